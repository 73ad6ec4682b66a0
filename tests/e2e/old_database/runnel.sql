PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE schema_migrations(feature TEXT NOT NULL, number INTEGER NOT NULL, applied_at INTEGER NOT NULL, PRIMARY KEY (feature, number)) WITHOUT ROWID;
INSERT INTO schema_migrations VALUES('profile',1,1794915397000);
INSERT INTO schema_migrations VALUES('runs',1,1794915397000);
INSERT INTO schema_migrations VALUES('tickets',1,1794915397000);
CREATE TABLE users(
  id TEXT NOT NULL PRIMARY KEY,
  created_at INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO users VALUES('ann',1794915397865);
INSERT INTO users VALUES('bob',1794915397895);
CREATE TABLE agent_chat_sessions(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner_id TEXT NOT NULL,
  thread_ref TEXT NOT NULL,
  title TEXT,
  status VARCHAR(16) NOT NULL DEFAULT 'pending'
    CONSTRAINT chk_session_status CHECK (status IN ('pending','running','completed','failed')),
  state_snapshot TEXT NOT NULL DEFAULT '{"status":"pending"}',
  billing_currency VARCHAR(3) NOT NULL DEFAULT 'CNY'
    CONSTRAINT chk_billing_currency CHECK (billing_currency IN ('CNY')),
  billing_country_snapshot VARCHAR(2)
    CONSTRAINT chk_billing_country CHECK (length(billing_country_snapshot) <= 2),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  error_id TEXT,
  last_epoch INTEGER NOT NULL DEFAULT 0,  -- The newest epoch of its runs: epochs increase within a thread (SSE-1).
  CONSTRAINT uq_sessions_owner_thread UNIQUE (owner_id, thread_ref),
  CONSTRAINT chk_session_snapshot CHECK (coalesce(json_extract(state_snapshot, '$.status') = status, 0))
);
INSERT INTO agent_chat_sessions VALUES(1,'bob','b-chat','é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿    "\/   	 你好','completed','{"status":"completed"}','CNY','CN',1794915397923,1794915397936,NULL,1794915397932);
INSERT INTO agent_chat_sessions VALUES(2,'bob','b-router','Am I free tomorrow?','completed','{"status":"completed"}','CNY','CN',1794915397938,1794915397946,NULL,1794915397938);
INSERT INTO agent_chat_sessions VALUES(3,'ann','a-tools','Am I free tomorrow?','completed','{"status":"completed"}','CNY','CH',1794915397949,1794915397967,NULL,1794915397949);
INSERT INTO agent_chat_sessions VALUES(4,'ann','a-three','Am I free tomorrow?','completed','{"status":"completed"}','CNY','CH',1794915397970,1794915397991,NULL,1794915397987);
INSERT INTO agent_chat_sessions VALUES(5,'ann','a-repaired','Am I free tomorrow?','completed','{"status":"completed"}','CNY','CH',1794915397993,1794915398005,NULL,1794915397993);
INSERT INTO agent_chat_sessions VALUES(6,'ann','a-failed','Am I free tomorrow?','failed','{"status":"failed"}','CNY','CH',1794915398008,1794915398012,'01a1e94b-717c-7428-b599-b16b14078f09',1794915398008);
INSERT INTO agent_chat_sessions VALUES(7,'ann','a-cancelled','Am I free tomorrow?','failed','{"status":"failed"}','CNY','CH',1794915398014,1794915398520,NULL,1794915398014);
INSERT INTO agent_chat_sessions VALUES(8,'ann','a-rolled','Am I free tomorrow?','completed','{"status":"completed"}','CNY','CH',1794915398523,1794915399036,NULL,1794915399032);
INSERT INTO agent_chat_sessions VALUES(9,'ann','a-recovered','Am I free tomorrow?','completed','{"status":"completed"}','CNY','CH',1794915399039,1794915399611,NULL,1794915399598);
INSERT INTO agent_chat_sessions VALUES(10,'ann','a-going','Am I free tomorrow?','running','{"status":"running"}','CNY','CH',1794915399666,1794915399666,NULL,1794915399666);
INSERT INTO agent_chat_sessions VALUES(11,'ann','a-stale','Am I free tomorrow?','running','{"status":"running"}','CNY','CH',1794915400184,1794915400184,NULL,1794915400184);
CREATE TABLE runs(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner_id TEXT NOT NULL,
  run_ref TEXT NOT NULL,
  thread_id INTEGER NOT NULL REFERENCES agent_chat_sessions(id) ON DELETE CASCADE,
  status TEXT NOT NULL CONSTRAINT chk_run_status CHECK (status IN
    ('queued','pending','running','awaiting_approval','completed','failed','canceled')),
  mode TEXT NOT NULL CONSTRAINT chk_run_mode CHECK (mode IN ('chat','automation')),
  queue_no INTEGER,
  epoch INTEGER NOT NULL DEFAULT 0,
  node TEXT,
  cancel_at INTEGER,
  last_n INTEGER NOT NULL DEFAULT 0,
  next_idx INTEGER NOT NULL DEFAULT 0,
  rolled_back INTEGER NOT NULL DEFAULT 0,
  log_expired INTEGER NOT NULL DEFAULT 0,
  input_hash TEXT NOT NULL,
  agui_version TEXT NOT NULL,
  error_code TEXT,
  error_id TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  profile TEXT,
  released INTEGER NOT NULL DEFAULT 0,
  crashes INTEGER NOT NULL DEFAULT 0,
  spent_high INTEGER NOT NULL DEFAULT 0,
  spent_low INTEGER NOT NULL DEFAULT 0,
  log_bytes INTEGER NOT NULL DEFAULT 0,
  kept_bytes INTEGER NOT NULL DEFAULT 0,
  CONSTRAINT uq_runs_owner_run UNIQUE (owner_id, run_ref),
  CONSTRAINT chk_run_queue_no CHECK ((status = 'queued') = (queue_no IS NOT NULL)),
  CONSTRAINT chk_run_ended_at CHECK ((status IN ('completed','failed','canceled')) = (ended_at IS NOT NULL))
);
INSERT INTO runs VALUES(1,'bob','b-1',1,'completed','chat',NULL,1794915397923,'22673-62eca35a',NULL,9,5,0,0,'5dfb9f79083ff46883515a1878346a13ad8e70d8acf6cecbeaf2e4b4ce55d7b1','0.0',NULL,NULL,1794915397923,1794915397923,1794915397929,NULL,0,0,0,26000000,1889,859);
INSERT INTO runs VALUES(2,'bob','b-2',1,'completed','chat',NULL,1794915397932,'22673-62eca35a',NULL,10,6,0,0,'794998841734af62d1d4da6a57f1be81ec0c0f1d43abe28f39c0b1688a7d8f47','0.0',NULL,NULL,1794915397932,1794915397932,1794915397936,NULL,0,0,6,954196224,1903,663);
INSERT INTO runs VALUES(3,'bob','b-3',2,'completed','chat',NULL,1794915397938,'22673-62eca35a',NULL,12,5,0,0,'2cf200a5443e8d1025ff71257011479295987b44b8d5bdf87045600b6be76674','0.0',NULL,NULL,1794915397938,1794915397938,1794915397946,NULL,0,0,0,690000000,2740,1578);
INSERT INTO runs VALUES(4,'ann','a-1',3,'completed','chat',NULL,1794915397949,'22673-62eca35a',NULL,38,14,0,0,'ca2ad8bea64713b3c49bc6cd5afadd3ab414afbefeae9564d6dd62d0630d95c9','0.0',NULL,NULL,1794915397949,1794915397949,1794915397967,'{"username":"Ann é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \"\\/\b\f \r\t 你好","bio":"Likes tea.","settings":{"version":2,"preferences":{"interface_language":"en-GB","ai_language":"de-CH-1996","timezone":"Europe/Zurich","country":"CH"},"privacy":{},"notification":{},"safety":{}}}',0,0,0,2300000000,11152,2944);
INSERT INTO runs VALUES(5,'ann','a-2',4,'completed','chat',NULL,1794915397970,'22673-62eca35a',NULL,23,7,0,0,'2b4101b13b4da9cacdab05051122a7890d42ce913667e8d02c8c8a08a0de99cf','0.0',NULL,NULL,1794915397970,1794915397970,1794915397984,'{"username":"Ann é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \"\\/\b\f \r\t 你好","bio":"Likes tea.","settings":{"version":2,"preferences":{"interface_language":"en-GB","ai_language":"de-CH-1996","timezone":"Europe/Zurich","country":"CH"},"privacy":{},"notification":{},"safety":{}}}',0,0,0,2300000000,6116,2536);
INSERT INTO runs VALUES(6,'ann','a-3',4,'completed','chat',NULL,1794915397987,'22673-62eca35a',NULL,9,5,0,0,'2b4101b13b4da9cacdab05051122a7890d42ce913667e8d02c8c8a08a0de99cf','0.0',NULL,NULL,1794915397987,1794915397987,1794915397991,'{"username":"Ann é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \"\\/\b\f \r\t 你好","bio":"Likes tea.","settings":{"version":2,"preferences":{"interface_language":"en-GB","ai_language":"de-CH-1996","timezone":"Europe/Zurich","country":"CH"},"privacy":{},"notification":{},"safety":{}}}',0,0,0,230000000,1773,913);
INSERT INTO runs VALUES(7,'ann','a-4',5,'completed','chat',NULL,1794915397993,'22673-62eca35a',NULL,13,5,0,0,'e7e79ae5c1776c1e701826e295b9fb18f754044625a65c455486ebb23e587bed','0.0',NULL,NULL,1794915397993,1794915397993,1794915398005,'{"username":"Ann é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \"\\/\b\f \r\t 你好","bio":"Likes tea.","settings":{"version":2,"preferences":{"interface_language":"en-GB","ai_language":"de-CH-1996","timezone":"Europe/Zurich","country":"CH"},"privacy":{},"notification":{},"safety":{}}}',0,0,0,1380000000,3355,1655);
INSERT INTO runs VALUES(8,'ann','a-5',6,'failed','chat',NULL,1794915398008,'22673-62eca35a',NULL,5,1,0,0,'ea15fa142e6882ac37917540b2f9df04a30986777441c8a5b2c4d6b7029e0883','0.0','MODEL_REJECTED','01a1e94b-717c-7428-b599-b16b14078f09',1794915398008,1794915398008,1794915398012,'{"username":"Ann é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \"\\/\b\f \r\t 你好","bio":"Likes tea.","settings":{"version":2,"preferences":{"interface_language":"en-GB","ai_language":"de-CH-1996","timezone":"Europe/Zurich","country":"CH"},"privacy":{},"notification":{},"safety":{}}}',0,0,0,0,740,621);
INSERT INTO runs VALUES(9,'ann','a-6',7,'canceled','chat',NULL,1794915398014,'22673-62eca35a',1794915398518,9,5,0,0,'d2637521cf44b0a296f6b05444abfc5e64f22a97febbb2a51a46c841851b8c8f','0.0','RUN_CANCELED',NULL,1794915398014,1794915398014,1794915398520,'{"username":"Ann é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \"\\/\b\f \r\t 你好","bio":"Likes tea.","settings":{"version":2,"preferences":{"interface_language":"en-GB","ai_language":"de-CH-1996","timezone":"Europe/Zurich","country":"CH"},"privacy":{},"notification":{},"safety":{}}}',0,0,0,619000000,1392,726);
INSERT INTO runs VALUES(10,'ann','a-7',8,'canceled','chat',NULL,1794915398523,'22673-62eca35a',1794915399028,9,5,1,0,'2e12d02abbd64e3afa9957b5aceb54659fa4351d659196bea0a40664884b87f7','0.0','RUN_CANCELED',NULL,1794915398523,1794915398523,1794915399029,'{"username":"Ann é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \"\\/\b\f \r\t 你好","bio":"Likes tea.","settings":{"version":2,"preferences":{"interface_language":"en-GB","ai_language":"de-CH-1996","timezone":"Europe/Zurich","country":"CH"},"privacy":{},"notification":{},"safety":{}}}',0,0,0,625000000,1410,735);
INSERT INTO runs VALUES(11,'ann','a-8',8,'completed','chat',NULL,1794915399032,'22673-62eca35a',NULL,9,5,0,0,'2e12d02abbd64e3afa9957b5aceb54659fa4351d659196bea0a40664884b87f7','0.0',NULL,NULL,1794915399028,1794915399032,1794915399036,'{"username":"Ann é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \"\\/\b\f \r\t 你好","bio":"Likes tea.","settings":{"version":2,"preferences":{"interface_language":"en-GB","ai_language":"de-CH-1996","timezone":"Europe/Zurich","country":"CH"},"privacy":{},"notification":{},"safety":{}}}',0,0,0,23000000,1721,651);
INSERT INTO runs VALUES(12,'ann','a-9',9,'completed','chat',NULL,1794915399598,'22699-7e5371eb',NULL,17,8,0,0,'c06705561837c7ff5505e19ec2f950276508a56e85204164e2a5cec23f630f25','0.0',NULL,NULL,1794915399039,1794915399039,1794915399611,'{"username":"Ann é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \"\\/\b\f \r\t 你好","bio":"Likes tea.","settings":{"version":2,"preferences":{"interface_language":"en-GB","ai_language":"de-CH-1996","timezone":"Europe/Zurich","country":"CH"},"privacy":{},"notification":{},"safety":{}}}',0,1,0,2715000000,3669,1667);
INSERT INTO runs VALUES(13,'ann','a-10',10,'running','chat',NULL,1794915399666,'22713-58cbc937',NULL,8,3,0,0,'00feb896fe20b70962d13ede0146452e5f460cca1beec3b37cadd10e186c8f44','0.0',NULL,NULL,1794915399666,1794915399666,NULL,'{"username":"Ann é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \"\\/\b\f \r\t 你好","bio":"Likes tea.","settings":{"version":2,"preferences":{"interface_language":"en-GB","ai_language":"de-CH-1996","timezone":"Europe/Zurich","country":"CH"},"privacy":{},"notification":{},"safety":{}}}',0,0,1,1771032704,1424,814);
INSERT INTO runs VALUES(14,'ann','a-11',10,'queued','chat',1,0,NULL,NULL,0,0,0,0,'421883a18d0a737b354e7f971cfea979db00b0ee82ecc50ebcb4f6052de6a406','0.0',NULL,NULL,1794915400182,NULL,NULL,'{"username":"Ann é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \"\\/\b\f \r\t 你好","bio":"Likes tea.","settings":{"version":2,"preferences":{"interface_language":"en-GB","ai_language":"de-CH-1996","timezone":"Europe/Zurich","country":"CH"},"privacy":{},"notification":{},"safety":{}}}',0,0,0,0,0,83);
INSERT INTO runs VALUES(15,'ann','a-12',11,'running','chat',NULL,1794915400184,'22713-58cbc937',NULL,8,3,0,0,'8c3a00c275528d6024fca2406ebf8c13b1b52099bb8143a4ba2d46ac3c4a025b','0.0',NULL,NULL,1794915400184,1794915400184,NULL,'{"username":"Ann é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \"\\/\b\f \r\t 你好","bio":"Likes tea.","settings":{"version":2,"preferences":{"interface_language":"en-GB","ai_language":"de-CH-1996","timezone":"Europe/Zurich","country":"CH"},"privacy":{},"notification":{},"safety":{}}}',0,0,1,1771032704,1424,814);
INSERT INTO runs VALUES(16,'ann','a-13',11,'queued','chat',1,0,NULL,NULL,0,0,0,0,'371920d4db411dd15410f0650e27622e7728238c48dbd7abab1195c1ee1bc246','0.0',NULL,NULL,1794915400692,NULL,NULL,'{"username":"Ann é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \"\\/\b\f \r\t 你好","bio":"Likes tea.","settings":{"version":2,"preferences":{"interface_language":"en-GB","ai_language":"de-CH-1996","timezone":"Europe/Zurich","country":"CH"},"privacy":{},"notification":{},"safety":{}}}',0,0,0,0,0,83);
CREATE TABLE run_inputs(
  run_id INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE,
  input TEXT NOT NULL
);
INSERT INTO run_inputs VALUES(1,'{"messageId":"m-b863f8e6b9d8","text":"é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \"\\/\b\f\n\r\t 你好","flow":"chat","model":"fake"}');
INSERT INTO run_inputs VALUES(2,'{"messageId":"m-95ff9cfb0dcd","text":"Am I free tomorrow?","flow":"chat","model":"fake-two"}');
INSERT INTO run_inputs VALUES(3,'{"messageId":"m-072560d5d739","text":"Am I free tomorrow?","flow":"router_worker","model":"fake"}');
INSERT INTO run_inputs VALUES(4,'{"messageId":"m-a72bc31ce412","text":"Am I free tomorrow?","flow":"router_worker","model":"fake"}');
INSERT INTO run_inputs VALUES(5,'{"messageId":"m-5aac78fe8988","text":"Am I free tomorrow?","flow":"intent_execution_organization","model":"fake"}');
INSERT INTO run_inputs VALUES(6,'{"messageId":"m-e6a5310c6ec7","text":"Am I free tomorrow?","flow":"intent_execution_organization","model":"fake"}');
INSERT INTO run_inputs VALUES(7,'{"messageId":"m-e0bf38123c1d","text":"Am I free tomorrow?","flow":"router_worker","model":"fake"}');
INSERT INTO run_inputs VALUES(8,'{"messageId":"m-8375951546a4","text":"Am I free tomorrow?","flow":"chat","model":"fake"}');
INSERT INTO run_inputs VALUES(9,'{"messageId":"m-ba39a7f6fdbb","text":"Am I free tomorrow?","flow":"chat","model":"fake"}');
INSERT INTO run_inputs VALUES(10,'{"messageId":"m-7684e027e128","text":"Am I free tomorrow?","flow":"chat","model":"fake"}');
INSERT INTO run_inputs VALUES(11,'{"messageId":"m-a4b0b66c96eb","text":"Am I free tomorrow?","flow":"chat","model":"fake"}');
INSERT INTO run_inputs VALUES(12,'{"messageId":"m-6186ea549b77","text":"Am I free tomorrow?","flow":"router_worker","model":"fake"}');
INSERT INTO run_inputs VALUES(13,'{"messageId":"m-22c058e9a8c1","text":"Am I free tomorrow?","flow":"router_worker","model":"fake"}');
INSERT INTO run_inputs VALUES(14,'{"messageId":"m-c2f932c1a8b1","text":"And the day after?","flow":"chat","model":""}');
INSERT INTO run_inputs VALUES(15,'{"messageId":"m-e4c8bcfac57b","text":"Am I free tomorrow?","flow":"router_worker","model":"fake"}');
INSERT INTO run_inputs VALUES(16,'{"messageId":"m-f63fc8232f17","text":"And the day after?","flow":"chat","model":""}');
CREATE TABLE run_epochs(
  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  epoch INTEGER NOT NULL,
  first_n INTEGER NOT NULL,
  PRIMARY KEY (run_id, epoch)
) WITHOUT ROWID;
INSERT INTO run_epochs VALUES(1,1794915397923,1);
INSERT INTO run_epochs VALUES(2,1794915397932,1);
INSERT INTO run_epochs VALUES(3,1794915397938,1);
INSERT INTO run_epochs VALUES(4,1794915397949,1);
INSERT INTO run_epochs VALUES(5,1794915397970,1);
INSERT INTO run_epochs VALUES(6,1794915397987,1);
INSERT INTO run_epochs VALUES(7,1794915397993,1);
INSERT INTO run_epochs VALUES(8,1794915398008,1);
INSERT INTO run_epochs VALUES(9,1794915398014,1);
INSERT INTO run_epochs VALUES(10,1794915398523,1);
INSERT INTO run_epochs VALUES(11,1794915399032,1);
INSERT INTO run_epochs VALUES(12,1794915399039,1);
INSERT INTO run_epochs VALUES(12,1794915399598,9);
INSERT INTO run_epochs VALUES(13,1794915399666,1);
INSERT INTO run_epochs VALUES(15,1794915400184,1);
CREATE TABLE log(
  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  first_n INTEGER NOT NULL,
  last_n INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  body TEXT NOT NULL,
  CONSTRAINT chk_log_numbers CHECK (first_n >= 1 AND last_n >= first_n)
);
INSERT INTO log VALUES(1,1,2,1794915397923,'[{"n":1,"idx":-1,"ts":1794915397923379,"fact":"run_started"},{"n":2,"idx":-1,"ts":1794915397923379,"fact":"step_started","stage":"chat"}]');
INSERT INTO log VALUES(1,3,5,1794915397923,'[{"n":3,"idx":0,"ts":1794915397928739,"fact":"reply_started"},{"n":4,"idx":1,"ts":1794915397928745,"fact":"text_started","message":"01a1e94b-7125-7a40-9a68-0cf1541767c5","stage":"chat"},{"n":5,"idx":2,"ts":1794915397928748,"fact":"text_delta","message":"01a1e94b-7125-7a40-9a68-0cf1541767c5","text":"Hello é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \"\\/\b\f\n\r\t 你好","index":1,"elapsed_us":0}]');
INSERT INTO log VALUES(1,6,9,1794915397923,'[{"n":6,"idx":-1,"ts":1794915397929531,"fact":"usage_recorded","stage":"chat","usage":{"provider":"fake","model":"fake","input_tokens":10,"output_tokens":2,"total_tokens":12,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":26000000,"complete":true}},{"n":7,"idx":3,"ts":1794915397929533,"fact":"answer_completed","message":"01a1e94b-7125-7a40-9a68-0cf1541767c5","stage":"chat","status":"success","answer":"Hello é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \"\\/\b\f\n\r\t 你好","suggested_actions":[],"key_points":[],"result_type":"unknown","usage":{"provider":"fake","model":"fake","input_tokens":10,"output_tokens":2,"total_tokens":12,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":26000000,"complete":true}},{"n":8,"idx":-1,"ts":1794915397929537,"fact":"step_finished","stage":"chat"},{"n":9,"idx":4,"ts":1794915397929540,"fact":"run_finished","usage":[{"provider":"fake","model":"fake","input_tokens":10,"output_tokens":2,"total_tokens":12,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":26000000,"complete":true}],"model_calls":1,"tool_calls":0,"repairs":0}]');
INSERT INTO log VALUES(2,1,2,1794915397932,'[{"n":1,"idx":-1,"ts":1794915397932680,"fact":"run_started"},{"n":2,"idx":-1,"ts":1794915397932680,"fact":"step_started","stage":"chat"}]');
INSERT INTO log VALUES(2,3,5,1794915397932,'[{"n":3,"idx":0,"ts":1794915397935531,"fact":"reply_started"},{"n":4,"idx":1,"ts":1794915397935534,"fact":"text_started","message":"01a1e94b-712e-7a83-9f47-224eea1bef92","stage":"chat"},{"n":5,"idx":2,"ts":1794915397935536,"fact":"text_delta","message":"01a1e94b-712e-7a83-9f47-224eea1bef92","text":"Dear","index":1,"elapsed_us":0}]');
INSERT INTO log VALUES(2,6,10,1794915397932,'[{"n":6,"idx":3,"ts":1794915397936088,"fact":"text_delta","message":"01a1e94b-712e-7a83-9f47-224eea1bef92","text":"er","index":2,"elapsed_us":558},{"n":7,"idx":-1,"ts":1794915397936196,"fact":"usage_recorded","stage":"chat","usage":{"provider":"fake","model":"fake-two","input_tokens":12345,"output_tokens":678,"total_tokens":13023,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":26724000000,"complete":true}},{"n":8,"idx":4,"ts":1794915397936199,"fact":"answer_completed","message":"01a1e94b-712e-7a83-9f47-224eea1bef92","stage":"chat","status":"success","answer":"Dearer","suggested_actions":[],"key_points":[],"result_type":"unknown","usage":{"provider":"fake","model":"fake-two","input_tokens":12345,"output_tokens":678,"total_tokens":13023,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":26724000000,"complete":true}},{"n":9,"idx":-1,"ts":1794915397936206,"fact":"step_finished","stage":"chat"},{"n":10,"idx":5,"ts":1794915397936214,"fact":"run_finished","usage":[{"provider":"fake","model":"fake-two","input_tokens":12345,"output_tokens":678,"total_tokens":13023,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":26724000000,"complete":true}],"model_calls":1,"tool_calls":0,"repairs":0}]');
INSERT INTO log VALUES(3,1,2,1794915397938,'[{"n":1,"idx":-1,"ts":1794915397938284,"fact":"run_started"},{"n":2,"idx":-1,"ts":1794915397938284,"fact":"step_started","stage":"router"}]');
INSERT INTO log VALUES(3,3,5,1794915397938,'[{"n":3,"idx":-1,"ts":1794915397942403,"fact":"usage_recorded","stage":"router","usage":{"provider":"fake","model":"fake","input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":230000000,"complete":true}},{"n":4,"idx":-1,"ts":1794915397942409,"fact":"step_finished","stage":"router"},{"n":5,"idx":-1,"ts":1794915397942412,"fact":"step_started","stage":"worker"}]');
INSERT INTO log VALUES(3,6,8,1794915397938,'[{"n":6,"idx":0,"ts":1794915397945884,"fact":"reply_started"},{"n":7,"idx":1,"ts":1794915397945890,"fact":"text_started","message":"01a1e94b-7138-7d97-95b7-c26ea3742437","stage":"worker"},{"n":8,"idx":2,"ts":1794915397945893,"fact":"text_delta","message":"01a1e94b-7138-7d97-95b7-c26ea3742437","text":"You are free tomorrow.","index":1,"elapsed_us":0}]');
INSERT INTO log VALUES(3,9,12,1794915397938,'[{"n":9,"idx":-1,"ts":1794915397946666,"fact":"usage_recorded","stage":"worker","usage":{"provider":"fake","model":"fake","input_tokens":200,"output_tokens":20,"total_tokens":220,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":460000000,"complete":true}},{"n":10,"idx":3,"ts":1794915397946667,"fact":"answer_completed","message":"01a1e94b-7138-7d97-95b7-c26ea3742437","stage":"worker","status":"success","answer":"You are free tomorrow.","suggested_actions":["Book a meeting"],"key_points":[],"result_type":"execution_report","usage":{"provider":"fake","model":"fake","input_tokens":200,"output_tokens":20,"total_tokens":220,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":460000000,"complete":true}},{"n":11,"idx":-1,"ts":1794915397946672,"fact":"step_finished","stage":"worker"},{"n":12,"idx":4,"ts":1794915397946673,"fact":"run_finished","usage":[{"provider":"fake","model":"fake","input_tokens":300,"output_tokens":30,"total_tokens":330,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":690000000,"complete":true}],"model_calls":1,"tool_calls":0,"repairs":0}]');
INSERT INTO log VALUES(4,1,2,1794915397949,'[{"n":1,"idx":-1,"ts":1794915397949744,"fact":"run_started"},{"n":2,"idx":-1,"ts":1794915397949744,"fact":"step_started","stage":"router"}]');
INSERT INTO log VALUES(4,3,5,1794915397949,'[{"n":3,"idx":-1,"ts":1794915397953088,"fact":"usage_recorded","stage":"router","usage":{"provider":"fake","model":"fake","input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":230000000,"complete":true}},{"n":4,"idx":-1,"ts":1794915397953092,"fact":"step_finished","stage":"router"},{"n":5,"idx":-1,"ts":1794915397953095,"fact":"step_started","stage":"worker"}]');
INSERT INTO log VALUES(4,6,15,1794915397949,'[{"n":6,"idx":0,"ts":1794915397956035,"fact":"reply_started"},{"n":7,"idx":1,"ts":1794915397956040,"fact":"text_started","message":"01a1e94b-7142-79fd-aed3-0b014f11686f","stage":"worker"},{"n":8,"idx":2,"ts":1794915397956043,"fact":"text_delta","message":"01a1e94b-7142-79fd-aed3-0b014f11686f","text":"Let me look.","index":1,"elapsed_us":0},{"n":9,"idx":3,"ts":1794915397956045,"fact":"text_ended","message":"01a1e94b-7142-79fd-aed3-0b014f11686f","stage":"worker","text":"Let me look.","outcome":"complete"},{"n":10,"idx":-1,"ts":1794915397956047,"fact":"tool_call_started","message":"01a1e94b-7144-7acd-87d5-d78566b23b66","call":"call_01a1e94b-7144-7539-b395-a88cb002d634","tool":"project_cli","stage":"worker"},{"n":11,"idx":-1,"ts":1794915397956052,"fact":"tool_args_delta","call":"call_01a1e94b-7144-7539-b395-a88cb002d634","text":"{\"module\": \"calendar\", \"method\": \"echo\", \"input\": {\"date\": \"e\\u0301 \\u00e9 \\ud83d\\udc69\\u200d\\ud83d\\udcbb \\u202eabc\\u202c \\u2"},{"n":12,"idx":-1,"ts":1794915397956055,"fact":"tool_args_delta","call":"call_01a1e94b-7144-7539-b395-a88cb002d634","text":"066x\\u2069 \\u2028 \\u2029 \\u00a0 \\ufeff \\uffff \\udbff\\udfff \\u0085 \\u007f \\\"\\\\/\\b\\f\\n\\r\\t \\u4f60\\u597d\"}, \"intent\": \"to see\"}"},{"n":13,"idx":-1,"ts":1794915397956056,"fact":"tool_call_started","message":"01a1e94b-7144-7959-9d56-c9b72b3459c2","call":"call_01a1e94b-7144-70a6-b824-404c21c72f9b","tool":"project_cli","stage":"worker"},{"n":14,"idx":-1,"ts":1794915397956058,"fact":"tool_args_delta","call":"call_01a1e94b-7144-70a6-b824-404c21c72f9b","text":"{\"module\": \"calendar\", \"method\": \"part\", \"in"},{"n":15,"idx":-1,"ts":1794915397956059,"fact":"tool_args_delta","call":"call_01a1e94b-7144-70a6-b824-404c21c72f9b","text":"put\": {\"items\": [1, 2]}, \"intent\": \"to see\"}"}]');
INSERT INTO log VALUES(4,16,20,1794915397949,'[{"n":16,"idx":-1,"ts":1794915397956757,"fact":"usage_recorded","stage":"worker","usage":{"provider":"fake","model":"fake","input_tokens":200,"output_tokens":20,"total_tokens":220,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":460000000,"complete":true}},{"n":17,"idx":-1,"ts":1794915397956761,"fact":"tool_args","message":"01a1e94b-7144-7acd-87d5-d78566b23b66","call":"call_01a1e94b-7144-7539-b395-a88cb002d634","tool":"project_cli","stage":"worker","args":"{\"module\":\"calendar\",\"method\":\"echo\",\"input\":{\"date\":\"é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \\\"\\\\/\\b\\f\\n\\r\\t 你好\"}}"},{"n":18,"idx":-1,"ts":1794915397956764,"fact":"tool_call_ended","message":"01a1e94b-7144-7acd-87d5-d78566b23b66","call":"call_01a1e94b-7144-7539-b395-a88cb002d634","tool":"project_cli","stage":"worker"},{"n":19,"idx":-1,"ts":1794915397956766,"fact":"tool_args","message":"01a1e94b-7144-7959-9d56-c9b72b3459c2","call":"call_01a1e94b-7144-70a6-b824-404c21c72f9b","tool":"project_cli","stage":"worker","args":"{\"module\":\"calendar\",\"method\":\"part\",\"input\":{\"items\":[1,2]}}"},{"n":20,"idx":-1,"ts":1794915397956768,"fact":"tool_call_ended","message":"01a1e94b-7144-7959-9d56-c9b72b3459c2","call":"call_01a1e94b-7144-70a6-b824-404c21c72f9b","tool":"project_cli","stage":"worker"}]');
INSERT INTO log VALUES(4,21,21,1794915397949,'[{"n":21,"idx":4,"ts":1794915397957711,"fact":"tool_started","action_id":"tool_0_calendar.echo_2fcbadc3621c","call":"call_01a1e94b-7144-7539-b395-a88cb002d634","name":"calendar.echo","input":"{\"date\":\"é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \\\"\\\\/\\b\\f\\n\\r\\t 你好\"}","preparing_id":"calendar.echo:0"}]');
INSERT INTO log VALUES(4,22,22,1794915397949,'[{"n":22,"idx":5,"ts":1794915397958278,"fact":"tool_result","message":"01a1e94b-7146-7ff5-9a69-a0c0479d11f9","call":"call_01a1e94b-7144-7539-b395-a88cb002d634","tool":"project_cli","stage":"worker","args":"{\"module\":\"calendar\",\"method\":\"echo\",\"input\":{\"date\":\"é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \\\"\\\\/\\b\\f\\n\\r\\t 你好\"}}","status":"success","result":"{\"module\":\"calendar\",\"method\":\"echo\",\"data\":{\"date\":\"é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \\\"\\\\/\\b\\f\\n\\r\\t 你好\"}}","action_id":"tool_0_calendar.echo_2fcbadc3621c","summary":""}]');
INSERT INTO log VALUES(4,23,23,1794915397949,'[{"n":23,"idx":6,"ts":1794915397959037,"fact":"tool_started","action_id":"tool_1_calendar.part_fac6d3bd2a84","call":"call_01a1e94b-7144-70a6-b824-404c21c72f9b","name":"calendar.part","input":"{\"items\":[1,2]}","preparing_id":"calendar.part:1"}]');
INSERT INTO log VALUES(4,24,24,1794915397949,'[{"n":24,"idx":7,"ts":1794915397959568,"fact":"tool_result","message":"01a1e94b-7147-7f62-b679-18c333a9c9ba","call":"call_01a1e94b-7144-70a6-b824-404c21c72f9b","tool":"project_cli","stage":"worker","args":"{\"module\":\"calendar\",\"method\":\"part\",\"input\":{\"items\":[1,2]}}","status":"partial","result":"{\"module\":\"calendar\",\"method\":\"part\",\"data\":{\"items\":[1,2]}}","action_id":"tool_1_calendar.part_fac6d3bd2a84","summary":""}]');
INSERT INTO log VALUES(4,25,27,1794915397949,'[{"n":25,"idx":-1,"ts":1794915397962068,"fact":"tool_call_started","message":"01a1e94b-714a-7afe-960d-99bbe752f36f","call":"call_01a1e94b-714a-72e0-b87c-5cd79be47ff0","tool":"project_cli","stage":"worker"},{"n":26,"idx":-1,"ts":1794915397962076,"fact":"tool_args_delta","call":"call_01a1e94b-714a-72e0-b87c-5cd79be47ff0","text":"{\"module\": \"calendar\", \"method\": \"fai"},{"n":27,"idx":-1,"ts":1794915397962079,"fact":"tool_args_delta","call":"call_01a1e94b-714a-72e0-b87c-5cd79be47ff0","text":"l\", \"input\": {}, \"intent\": \"to see\"}"}]');
INSERT INTO log VALUES(4,28,30,1794915397949,'[{"n":28,"idx":-1,"ts":1794915397962984,"fact":"usage_recorded","stage":"worker","usage":{"provider":"fake","model":"fake","input_tokens":300,"output_tokens":30,"total_tokens":330,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":690000000,"complete":true}},{"n":29,"idx":-1,"ts":1794915397962990,"fact":"tool_args","message":"01a1e94b-714a-7afe-960d-99bbe752f36f","call":"call_01a1e94b-714a-72e0-b87c-5cd79be47ff0","tool":"project_cli","stage":"worker","args":"{\"module\":\"calendar\",\"method\":\"fail\",\"input\":{}}"},{"n":30,"idx":-1,"ts":1794915397962993,"fact":"tool_call_ended","message":"01a1e94b-714a-7afe-960d-99bbe752f36f","call":"call_01a1e94b-714a-72e0-b87c-5cd79be47ff0","tool":"project_cli","stage":"worker"}]');
INSERT INTO log VALUES(4,31,31,1794915397949,'[{"n":31,"idx":8,"ts":1794915397963948,"fact":"tool_started","action_id":"tool_0_calendar.fail_6b512c0c61c1","call":"call_01a1e94b-714a-72e0-b87c-5cd79be47ff0","name":"calendar.fail","input":"{}","preparing_id":"calendar.fail:0"}]');
INSERT INTO log VALUES(4,32,32,1794915397949,'[{"n":32,"idx":9,"ts":1794915397964497,"fact":"tool_result","message":"01a1e94b-714c-7b62-9e21-983a852fe688","call":"call_01a1e94b-714a-72e0-b87c-5cd79be47ff0","tool":"project_cli","stage":"worker","args":"{\"module\":\"calendar\",\"method\":\"fail\",\"input\":{}}","status":"failure","result":"{\"status\":\"failure\",\"error\":{\"code\":\"TEST_FAILURE\",\"message\":\"the test tool fails when it is asked to\"}}","error":"{\"status\":\"failure\",\"error\":{\"code\":\"TEST_FAILURE\",\"message\":\"the test tool fails when it is asked to\"}}","action_id":"tool_0_calendar.fail_6b512c0c61c1","summary":"TEST_FAILURE"}]');
INSERT INTO log VALUES(4,33,34,1794915397949,'[{"n":33,"idx":10,"ts":1794915397966868,"fact":"text_started","message":"01a1e94b-714d-7e85-a217-914c8b40cd28","stage":"worker"},{"n":34,"idx":11,"ts":1794915397966872,"fact":"text_delta","message":"01a1e94b-714d-7e85-a217-914c8b40cd28","text":"Nothing can be found.","index":1,"elapsed_us":0}]');
INSERT INTO log VALUES(4,35,38,1794915397949,'[{"n":35,"idx":-1,"ts":1794915397967603,"fact":"usage_recorded","stage":"worker","usage":{"provider":"fake","model":"fake","input_tokens":400,"output_tokens":40,"total_tokens":440,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":920000000,"complete":true}},{"n":36,"idx":12,"ts":1794915397967605,"fact":"answer_completed","message":"01a1e94b-714d-7e85-a217-914c8b40cd28","stage":"worker","status":"partial_success","answer":"Nothing can be found.","suggested_actions":[],"key_points":[],"result_type":"execution_report","usage":{"provider":"fake","model":"fake","input_tokens":900,"output_tokens":90,"total_tokens":990,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":2070000000,"complete":true}},{"n":37,"idx":-1,"ts":1794915397967607,"fact":"step_finished","stage":"worker"},{"n":38,"idx":13,"ts":1794915397967608,"fact":"run_finished","usage":[{"provider":"fake","model":"fake","input_tokens":1000,"output_tokens":100,"total_tokens":1100,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":2300000000,"complete":true}],"model_calls":3,"tool_calls":3,"repairs":0}]');
INSERT INTO log VALUES(5,1,2,1794915397970,'[{"n":1,"idx":-1,"ts":1794915397970560,"fact":"run_started"},{"n":2,"idx":-1,"ts":1794915397970560,"fact":"step_started","stage":"intent"}]');
INSERT INTO log VALUES(5,3,5,1794915397970,'[{"n":3,"idx":-1,"ts":1794915397973451,"fact":"usage_recorded","stage":"intent","usage":{"provider":"fake","model":"fake","input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":230000000,"complete":true}},{"n":4,"idx":-1,"ts":1794915397973456,"fact":"step_finished","stage":"intent"},{"n":5,"idx":-1,"ts":1794915397973459,"fact":"step_started","stage":"execution"}]');
INSERT INTO log VALUES(5,6,8,1794915397970,'[{"n":6,"idx":-1,"ts":1794915397976016,"fact":"tool_call_started","message":"01a1e94b-7158-73a4-9b68-b346776fbf3b","call":"call_01a1e94b-7158-7dbb-a216-bd927e673ae7","tool":"project_cli","stage":"execution"},{"n":7,"idx":-1,"ts":1794915397976023,"fact":"tool_args_delta","call":"call_01a1e94b-7158-7dbb-a216-bd927e673ae7","text":"{\"module\": \"calendar\", \"method\": \"echo\", "},{"n":8,"idx":-1,"ts":1794915397976027,"fact":"tool_args_delta","call":"call_01a1e94b-7158-7dbb-a216-bd927e673ae7","text":"\"input\": {\"day\": 1}, \"intent\": \"to see\"}"}]');
INSERT INTO log VALUES(5,9,11,1794915397970,'[{"n":9,"idx":-1,"ts":1794915397976879,"fact":"usage_recorded","stage":"execution","usage":{"provider":"fake","model":"fake","input_tokens":200,"output_tokens":20,"total_tokens":220,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":460000000,"complete":true}},{"n":10,"idx":-1,"ts":1794915397976884,"fact":"tool_args","message":"01a1e94b-7158-73a4-9b68-b346776fbf3b","call":"call_01a1e94b-7158-7dbb-a216-bd927e673ae7","tool":"project_cli","stage":"execution","args":"{\"module\":\"calendar\",\"method\":\"echo\",\"input\":{\"day\":1}}"},{"n":11,"idx":-1,"ts":1794915397976887,"fact":"tool_call_ended","message":"01a1e94b-7158-73a4-9b68-b346776fbf3b","call":"call_01a1e94b-7158-7dbb-a216-bd927e673ae7","tool":"project_cli","stage":"execution"}]');
INSERT INTO log VALUES(5,12,12,1794915397970,'[{"n":12,"idx":0,"ts":1794915397978144,"fact":"tool_started","action_id":"tool_0_calendar.echo_15324f72d85c","call":"call_01a1e94b-7158-7dbb-a216-bd927e673ae7","name":"calendar.echo","input":"{\"day\":1}","preparing_id":"calendar.echo:0"}]');
INSERT INTO log VALUES(5,13,13,1794915397970,'[{"n":13,"idx":1,"ts":1794915397978677,"fact":"tool_result","message":"01a1e94b-715a-7a81-a8dd-e252f9feebe0","call":"call_01a1e94b-7158-7dbb-a216-bd927e673ae7","tool":"project_cli","stage":"execution","args":"{\"module\":\"calendar\",\"method\":\"echo\",\"input\":{\"day\":1}}","status":"success","result":"{\"module\":\"calendar\",\"method\":\"echo\",\"data\":{\"day\":1}}","action_id":"tool_0_calendar.echo_15324f72d85c","summary":""}]');
INSERT INTO log VALUES(5,14,16,1794915397970,'[{"n":14,"idx":-1,"ts":1794915397981076,"fact":"usage_recorded","stage":"execution","usage":{"provider":"fake","model":"fake","input_tokens":300,"output_tokens":30,"total_tokens":330,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":690000000,"complete":true}},{"n":15,"idx":-1,"ts":1794915397981081,"fact":"step_finished","stage":"execution"},{"n":16,"idx":-1,"ts":1794915397981083,"fact":"step_started","stage":"organization"}]');
INSERT INTO log VALUES(5,17,19,1794915397970,'[{"n":17,"idx":2,"ts":1794915397983960,"fact":"reply_started"},{"n":18,"idx":3,"ts":1794915397983964,"fact":"text_started","message":"01a1e94b-715e-79a8-a067-8ff1056cf513","stage":"organization"},{"n":19,"idx":4,"ts":1794915397983967,"fact":"text_delta","message":"01a1e94b-715e-79a8-a067-8ff1056cf513","text":"You are free tomorrow.","index":1,"elapsed_us":0}]');
INSERT INTO log VALUES(5,20,23,1794915397970,'[{"n":20,"idx":-1,"ts":1794915397984889,"fact":"usage_recorded","stage":"organization","usage":{"provider":"fake","model":"fake","input_tokens":400,"output_tokens":40,"total_tokens":440,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":920000000,"complete":true}},{"n":21,"idx":5,"ts":1794915397984891,"fact":"answer_completed","message":"01a1e94b-715e-79a8-a067-8ff1056cf513","stage":"organization","status":"success","answer":"You are free tomorrow.","suggested_actions":[],"key_points":[],"result_type":"unknown","usage":{"provider":"fake","model":"fake","input_tokens":400,"output_tokens":40,"total_tokens":440,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":920000000,"complete":true}},{"n":22,"idx":-1,"ts":1794915397984895,"fact":"step_finished","stage":"organization"},{"n":23,"idx":6,"ts":1794915397984896,"fact":"run_finished","usage":[{"provider":"fake","model":"fake","input_tokens":1000,"output_tokens":100,"total_tokens":1100,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":2300000000,"complete":true}],"model_calls":2,"tool_calls":1,"repairs":0}]');
INSERT INTO log VALUES(6,1,2,1794915397987,'[{"n":1,"idx":-1,"ts":1794915397987668,"fact":"run_started"},{"n":2,"idx":-1,"ts":1794915397987668,"fact":"step_started","stage":"intent"}]');
INSERT INTO log VALUES(6,3,5,1794915397987,'[{"n":3,"idx":0,"ts":1794915397990409,"fact":"reply_started"},{"n":4,"idx":1,"ts":1794915397990413,"fact":"text_started","message":"01a1e94b-7164-70cd-b00e-573967ef4ecd","stage":"intent"},{"n":5,"idx":2,"ts":1794915397990418,"fact":"text_delta","message":"01a1e94b-7164-70cd-b00e-573967ef4ecd","text":"Yes, you are. 你好 🙂","index":1,"elapsed_us":0}]');
INSERT INTO log VALUES(6,6,9,1794915397987,'[{"n":6,"idx":-1,"ts":1794915397991120,"fact":"usage_recorded","stage":"intent","usage":{"provider":"fake","model":"fake","input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":230000000,"complete":true}},{"n":7,"idx":3,"ts":1794915397991121,"fact":"answer_completed","message":"01a1e94b-7164-70cd-b00e-573967ef4ecd","stage":"intent","status":"success","answer":"Yes, you are. 你好 🙂","suggested_actions":[],"key_points":[],"result_type":"unknown","usage":{"provider":"fake","model":"fake","input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":230000000,"complete":true}},{"n":8,"idx":-1,"ts":1794915397991124,"fact":"step_finished","stage":"intent"},{"n":9,"idx":4,"ts":1794915397991125,"fact":"run_finished","usage":[{"provider":"fake","model":"fake","input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":230000000,"complete":true}],"model_calls":1,"tool_calls":0,"repairs":0}]');
INSERT INTO log VALUES(7,1,2,1794915397993,'[{"n":1,"idx":-1,"ts":1794915397993798,"fact":"run_started"},{"n":2,"idx":-1,"ts":1794915397993798,"fact":"step_started","stage":"router"}]');
INSERT INTO log VALUES(7,3,5,1794915397993,'[{"n":3,"idx":-1,"ts":1794915397997995,"fact":"usage_recorded","stage":"router","usage":{"provider":"fake","model":"fake","input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":230000000,"complete":true}},{"n":4,"idx":-1,"ts":1794915397997999,"fact":"step_finished","stage":"router"},{"n":5,"idx":-1,"ts":1794915397998002,"fact":"step_started","stage":"worker"}]');
INSERT INTO log VALUES(7,6,6,1794915397993,'[{"n":6,"idx":-1,"ts":1794915398001321,"fact":"usage_recorded","stage":"worker","usage":{"provider":"fake","model":"fake","input_tokens":200,"output_tokens":20,"total_tokens":220,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":460000000,"complete":true}}]');
INSERT INTO log VALUES(7,7,9,1794915397993,'[{"n":7,"idx":0,"ts":1794915398004703,"fact":"reply_started"},{"n":8,"idx":1,"ts":1794915398004707,"fact":"text_started","message":"01a1e94b-7172-7fca-9dbb-5ba0e329d44b","stage":"worker"},{"n":9,"idx":2,"ts":1794915398004709,"fact":"text_delta","message":"01a1e94b-7172-7fca-9dbb-5ba0e329d44b","text":"You are free tomorrow.","index":1,"elapsed_us":0}]');
INSERT INTO log VALUES(7,10,13,1794915397993,'[{"n":10,"idx":-1,"ts":1794915398005623,"fact":"usage_recorded","stage":"worker","usage":{"provider":"fake","model":"fake","input_tokens":300,"output_tokens":30,"total_tokens":330,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":690000000,"complete":true}},{"n":11,"idx":3,"ts":1794915398005625,"fact":"answer_completed","message":"01a1e94b-7172-7fca-9dbb-5ba0e329d44b","stage":"worker","status":"success","answer":"You are free tomorrow.","suggested_actions":["Book a meeting"],"key_points":[],"result_type":"execution_report","usage":{"provider":"fake","model":"fake","input_tokens":500,"output_tokens":50,"total_tokens":550,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":1150000000,"complete":true}},{"n":12,"idx":-1,"ts":1794915398005628,"fact":"step_finished","stage":"worker"},{"n":13,"idx":4,"ts":1794915398005630,"fact":"run_finished","usage":[{"provider":"fake","model":"fake","input_tokens":600,"output_tokens":60,"total_tokens":660,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":1380000000,"complete":true}],"model_calls":1,"tool_calls":0,"repairs":1}]');
INSERT INTO log VALUES(8,1,2,1794915398008,'[{"n":1,"idx":-1,"ts":1794915398008424,"fact":"run_started"},{"n":2,"idx":-1,"ts":1794915398008424,"fact":"step_started","stage":"chat"}]');
INSERT INTO log VALUES(8,3,3,1794915398008,'[{"n":3,"idx":-1,"ts":1794915398011471,"fact":"usage_recorded","stage":"chat","usage":{"provider":"fake","model":"fake","input_tokens":0,"output_tokens":0,"total_tokens":0,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":0,"complete":true}}]');
INSERT INTO log VALUES(8,4,5,1794915398008,'[{"n":4,"idx":-1,"ts":1794915398012547,"fact":"step_finished","stage":"chat"},{"n":5,"idx":0,"ts":1794915398012547,"fact":"run_failed","message":"the model''s provider does not accept the request","code":"MODEL_REJECTED","error_id":"01a1e94b-717c-7428-b599-b16b14078f09","usage":[]}]');
INSERT INTO log VALUES(9,1,2,1794915398014,'[{"n":1,"idx":-1,"ts":1794915398014518,"fact":"run_started"},{"n":2,"idx":-1,"ts":1794915398014518,"fact":"step_started","stage":"chat"}]');
INSERT INTO log VALUES(9,3,5,1794915398014,'[{"n":3,"idx":0,"ts":1794915398018517,"fact":"reply_started"},{"n":4,"idx":1,"ts":1794915398018521,"fact":"text_started","message":"01a1e94b-7180-7c8c-a178-f324fbd16bbf","stage":"chat"},{"n":5,"idx":2,"ts":1794915398018523,"fact":"text_delta","message":"01a1e94b-7180-7c8c-a178-f324fbd16bbf","text":"Half of an ans","index":1,"elapsed_us":0}]');
INSERT INTO log VALUES(9,6,9,1794915398014,'[{"n":6,"idx":-1,"ts":1794915398520001,"fact":"usage_recorded","stage":"chat","usage":{"provider":"fake","model":"fake","input_tokens":302,"output_tokens":5,"total_tokens":307,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"incomplete_usage_fallback","cost":619000000,"complete":false}},{"n":7,"idx":3,"ts":1794915398520008,"fact":"text_ended","message":"01a1e94b-7180-7c8c-a178-f324fbd16bbf","stage":"chat","text":"Half of an ans","outcome":"canceled"},{"n":8,"idx":-1,"ts":1794915398520012,"fact":"step_finished","stage":"chat"},{"n":9,"idx":4,"ts":1794915398520015,"fact":"run_canceled","usage":[{"provider":"fake","model":"fake","input_tokens":302,"output_tokens":5,"total_tokens":307,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"incomplete_usage_fallback","cost":619000000,"complete":false}]}]');
INSERT INTO log VALUES(10,1,2,1794915398523,'[{"n":1,"idx":-1,"ts":1794915398523243,"fact":"run_started"},{"n":2,"idx":-1,"ts":1794915398523243,"fact":"step_started","stage":"chat"}]');
INSERT INTO log VALUES(10,3,5,1794915398523,'[{"n":3,"idx":0,"ts":1794915398526943,"fact":"reply_started"},{"n":4,"idx":1,"ts":1794915398526948,"fact":"text_started","message":"01a1e94b-737c-7f4c-8135-4c8a9a21f0a7","stage":"chat"},{"n":5,"idx":2,"ts":1794915398526950,"fact":"text_delta","message":"01a1e94b-737c-7f4c-8135-4c8a9a21f0a7","text":"This will be taken back","index":1,"elapsed_us":0}]');
INSERT INTO log VALUES(10,6,9,1794915398523,'[{"n":6,"idx":-1,"ts":1794915399029847,"fact":"usage_recorded","stage":"chat","usage":{"provider":"fake","model":"fake","input_tokens":302,"output_tokens":7,"total_tokens":309,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"incomplete_usage_fallback","cost":625000000,"complete":false}},{"n":7,"idx":3,"ts":1794915399029853,"fact":"text_ended","message":"01a1e94b-737c-7f4c-8135-4c8a9a21f0a7","stage":"chat","text":"This will be taken back","outcome":"canceled"},{"n":8,"idx":-1,"ts":1794915399029856,"fact":"step_finished","stage":"chat"},{"n":9,"idx":4,"ts":1794915399029859,"fact":"run_canceled","usage":[{"provider":"fake","model":"fake","input_tokens":302,"output_tokens":7,"total_tokens":309,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"incomplete_usage_fallback","cost":625000000,"complete":false}]}]');
INSERT INTO log VALUES(11,1,2,1794915399032,'[{"n":1,"idx":-1,"ts":1794915399032474,"fact":"run_started"},{"n":2,"idx":-1,"ts":1794915399032474,"fact":"step_started","stage":"chat"}]');
INSERT INTO log VALUES(11,3,5,1794915399032,'[{"n":3,"idx":0,"ts":1794915399035933,"fact":"reply_started"},{"n":4,"idx":1,"ts":1794915399035938,"fact":"text_started","message":"01a1e94b-757a-729d-8dc1-ab639f519604","stage":"chat"},{"n":5,"idx":2,"ts":1794915399035942,"fact":"text_delta","message":"01a1e94b-757a-729d-8dc1-ab639f519604","text":"This stays","index":1,"elapsed_us":0}]');
INSERT INTO log VALUES(11,6,9,1794915399032,'[{"n":6,"idx":-1,"ts":1794915399036855,"fact":"usage_recorded","stage":"chat","usage":{"provider":"fake","model":"fake","input_tokens":10,"output_tokens":1,"total_tokens":11,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":23000000,"complete":true}},{"n":7,"idx":3,"ts":1794915399036857,"fact":"answer_completed","message":"01a1e94b-757a-729d-8dc1-ab639f519604","stage":"chat","status":"success","answer":"This stays","suggested_actions":[],"key_points":[],"result_type":"unknown","usage":{"provider":"fake","model":"fake","input_tokens":10,"output_tokens":1,"total_tokens":11,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":23000000,"complete":true}},{"n":8,"idx":-1,"ts":1794915399036861,"fact":"step_finished","stage":"chat"},{"n":9,"idx":4,"ts":1794915399036862,"fact":"run_finished","usage":[{"provider":"fake","model":"fake","input_tokens":10,"output_tokens":1,"total_tokens":11,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":23000000,"complete":true}],"model_calls":1,"tool_calls":0,"repairs":0}]');
INSERT INTO log VALUES(12,1,2,1794915399039,'[{"n":1,"idx":-1,"ts":1794915399039510,"fact":"run_started"},{"n":2,"idx":-1,"ts":1794915399039510,"fact":"step_started","stage":"router"}]');
INSERT INTO log VALUES(12,3,5,1794915399039,'[{"n":3,"idx":-1,"ts":1794915399043364,"fact":"usage_recorded","stage":"router","usage":{"provider":"fake","model":"fake","input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":230000000,"complete":true}},{"n":4,"idx":-1,"ts":1794915399043369,"fact":"step_finished","stage":"router"},{"n":5,"idx":-1,"ts":1794915399043373,"fact":"step_started","stage":"worker"}]');
INSERT INTO log VALUES(12,6,8,1794915399039,'[{"n":6,"idx":0,"ts":1794915399046227,"fact":"reply_started"},{"n":7,"idx":1,"ts":1794915399046234,"fact":"text_started","message":"01a1e94b-7584-73d7-88dd-b10ee574a747","stage":"worker"},{"n":8,"idx":2,"ts":1794915399046237,"fact":"text_delta","message":"01a1e94b-7584-73d7-88dd-b10ee574a747","text":"You are fr","index":1,"elapsed_us":0}]');
INSERT INTO log VALUES(12,9,11,1794915399598,'[{"n":9,"idx":-1,"ts":1794915399606519,"fact":"writer_changed","previous_epoch":1794915399039,"after_n":8},{"n":10,"idx":3,"ts":1794915399606523,"fact":"text_ended","message":"01a1e94b-7584-73d7-88dd-b10ee574a747","stage":"worker","text":"You are fr","outcome":"superseded"},{"n":11,"idx":-1,"ts":1794915399606525,"fact":"usage_recorded","stage":"worker","usage":{"provider":"fake","model":"fake","input_tokens":893,"output_tokens":3,"total_tokens":896,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"incomplete_usage_fallback","cost":1795000000,"complete":false}}]');
INSERT INTO log VALUES(12,12,13,1794915399598,'[{"n":12,"idx":4,"ts":1794915399610922,"fact":"text_started","message":"01a1e94b-77b8-71e3-adaf-3b92d06e8259","stage":"worker"},{"n":13,"idx":5,"ts":1794915399610927,"fact":"text_delta","message":"01a1e94b-77b8-71e3-adaf-3b92d06e8259","text":"You are free tomorrow.","index":1,"elapsed_us":0}]');
INSERT INTO log VALUES(12,14,17,1794915399598,'[{"n":14,"idx":-1,"ts":1794915399611768,"fact":"usage_recorded","stage":"worker","usage":{"provider":"fake","model":"fake","input_tokens":300,"output_tokens":30,"total_tokens":330,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":690000000,"complete":true}},{"n":15,"idx":6,"ts":1794915399611770,"fact":"answer_completed","message":"01a1e94b-77b8-71e3-adaf-3b92d06e8259","stage":"worker","status":"success","answer":"You are free tomorrow.","suggested_actions":["Book a meeting"],"key_points":[],"result_type":"execution_report","usage":{"provider":"fake","model":"fake","input_tokens":1193,"output_tokens":33,"total_tokens":1226,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"incomplete_usage_fallback","cost":2485000000,"complete":false}},{"n":16,"idx":-1,"ts":1794915399611774,"fact":"step_finished","stage":"worker"},{"n":17,"idx":7,"ts":1794915399611775,"fact":"run_finished","usage":[{"provider":"fake","model":"fake","input_tokens":1293,"output_tokens":43,"total_tokens":1336,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"incomplete_usage_fallback","cost":2715000000,"complete":false}],"model_calls":1,"tool_calls":0,"repairs":0}]');
INSERT INTO log VALUES(13,1,2,1794915399666,'[{"n":1,"idx":-1,"ts":1794915399666169,"fact":"run_started"},{"n":2,"idx":-1,"ts":1794915399666169,"fact":"step_started","stage":"router"}]');
INSERT INTO log VALUES(13,3,5,1794915399666,'[{"n":3,"idx":-1,"ts":1794915399676988,"fact":"usage_recorded","stage":"router","usage":{"provider":"fake","model":"fake","input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":230000000,"complete":true}},{"n":4,"idx":-1,"ts":1794915399676994,"fact":"step_finished","stage":"router"},{"n":5,"idx":-1,"ts":1794915399676997,"fact":"step_started","stage":"worker"}]');
INSERT INTO log VALUES(13,6,8,1794915399666,'[{"n":6,"idx":0,"ts":1794915399681117,"fact":"reply_started"},{"n":7,"idx":1,"ts":1794915399681123,"fact":"text_started","message":"01a1e94b-77ff-7460-87c7-ea279895db87","stage":"worker"},{"n":8,"idx":2,"ts":1794915399681127,"fact":"text_delta","message":"01a1e94b-77ff-7460-87c7-ea279895db87","text":"You are fr","index":1,"elapsed_us":0}]');
INSERT INTO log VALUES(15,1,2,1794915400184,'[{"n":1,"idx":-1,"ts":1794915400184670,"fact":"run_started"},{"n":2,"idx":-1,"ts":1794915400184670,"fact":"step_started","stage":"router"}]');
INSERT INTO log VALUES(15,3,5,1794915400184,'[{"n":3,"idx":-1,"ts":1794915400188730,"fact":"usage_recorded","stage":"router","usage":{"provider":"fake","model":"fake","input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":230000000,"complete":true}},{"n":4,"idx":-1,"ts":1794915400188736,"fact":"step_finished","stage":"router"},{"n":5,"idx":-1,"ts":1794915400188739,"fact":"step_started","stage":"worker"}]');
INSERT INTO log VALUES(15,6,8,1794915400184,'[{"n":6,"idx":0,"ts":1794915400191708,"fact":"reply_started"},{"n":7,"idx":1,"ts":1794915400191713,"fact":"text_started","message":"01a1e94b-79fd-796d-9991-a683f7a4775c","stage":"worker"},{"n":8,"idx":2,"ts":1794915400191716,"fact":"text_delta","message":"01a1e94b-79fd-796d-9991-a683f7a4775c","text":"You are fr","index":1,"elapsed_us":0}]');
CREATE TABLE agent_chat_messages(
  id INTEGER PRIMARY KEY,
  session_id INTEGER NOT NULL REFERENCES agent_chat_sessions(id) ON DELETE CASCADE,
  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  message_id TEXT NOT NULL,
  seq INTEGER NOT NULL CONSTRAINT chk_message_seq CHECK (seq <> 0),
  role VARCHAR(16) NOT NULL CONSTRAINT chk_message_role CHECK (role IN ('user','assistant','system','tool')),
  content TEXT NOT NULL,
  metadata TEXT NOT NULL CONSTRAINT chk_message_type CHECK (CASE WHEN json_valid(metadata) THEN
    coalesce(json_extract(metadata, '$.type') IN
      ('user_input','tool_call','tool_result','assistant_output','stage_audit'), 0) ELSE 0 END),
  visibility_mask INTEGER NOT NULL CONSTRAINT chk_message_mask CHECK (visibility_mask BETWEEN 0 AND 3),
  input_tokens INTEGER NOT NULL CONSTRAINT chk_message_input_tokens CHECK (input_tokens >= 0),
  output_tokens INTEGER NOT NULL CONSTRAINT chk_message_output_tokens CHECK (output_tokens >= 0),
  cost INTEGER NOT NULL CONSTRAINT chk_message_cost CHECK (cost >= 0),
  currency VARCHAR(3),
  created_at INTEGER NOT NULL,
  CONSTRAINT chk_tool_seq CHECK (seq > 0 OR
    (role <> 'tool' AND json_extract(metadata, '$.type') NOT IN ('tool_call','tool_result')))
);
INSERT INTO agent_chat_messages VALUES(1,1,1,'m-b863f8e6b9d8',1,'user',replace(replace('é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   "\/\n\r	 你好','\r',char(13)),'\n',char(10)),'{"type":"user_input"}',3,0,0,0,'CNY',1794915397923);
INSERT INTO agent_chat_messages VALUES(2,1,1,'01a1e94b-7125-7a40-9a68-0cf1541767c5',2,'assistant',replace(replace('Hello é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   "\/\n\r	 你好','\r',char(13)),'\n',char(10)),'{"type":"assistant_output","stage":"chat","status":"success","provider":"fake","model":"fake","costSource":"catalog_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":10,"output_tokens":2,"total_tokens":12,"latency_ms":2,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":1,"usage_records":1,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',3,10,2,26000000,'CNY',1794915397929);
INSERT INTO agent_chat_messages VALUES(3,1,2,'m-95ff9cfb0dcd',3,'user','Am I free tomorrow?','{"type":"user_input"}',3,0,0,0,'CNY',1794915397932);
INSERT INTO agent_chat_messages VALUES(4,1,2,'01a1e94b-712e-7a83-9f47-224eea1bef92',4,'assistant','Dearer','{"type":"assistant_output","stage":"chat","status":"success","provider":"fake","model":"fake-two","costSource":"catalog_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":12345,"output_tokens":678,"total_tokens":13023,"latency_ms":1,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":1,"usage_records":1,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',3,12345,678,26724000000,'CNY',1794915397936);
INSERT INTO agent_chat_messages VALUES(5,2,3,'m-072560d5d739',1,'user','Am I free tomorrow?','{"type":"user_input"}',3,0,0,0,'CNY',1794915397938);
INSERT INTO agent_chat_messages VALUES(6,2,3,'01a1e94b-7136-7c62-8f1a-3109ae7673da',-1,'assistant','{"route": "NEEDS_EXECUTION", "intent_summary": "Asks whether tomorrow is free", "safety_flags": [], "execution_brief": "Look up 2026-11-17", "assistant_text": null}','{"type":"stage_audit","stage":"router","status":"success","provider":"fake","model":"fake","costSource":"catalog_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":100,"output_tokens":10,"total_tokens":110,"latency_ms":0,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":1,"usage_records":1,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',0,100,10,230000000,'CNY',1794915397942);
INSERT INTO agent_chat_messages VALUES(7,2,3,'01a1e94b-7138-7d97-95b7-c26ea3742437',2,'assistant','You are free tomorrow.','{"type":"assistant_output","stage":"worker","status":"success","provider":"fake","model":"fake","costSource":"catalog_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":200,"output_tokens":20,"total_tokens":220,"latency_ms":1,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":1,"usage_records":1,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',3,200,20,460000000,'CNY',1794915397946);
INSERT INTO agent_chat_messages VALUES(8,2,3,'01a1e94b-713a-749a-8f3b-53dc5fc68c1f',-2,'assistant','{"status": "SUCCESS", "result_type": "execution_report", "key_points": [], "suggested_actions": ["Book a meeting"], "error": null, "answer": "You are free tomorrow."}','{"type":"stage_audit","stage":"worker","status":"success"}',0,0,0,0,'CNY',1794915397946);
INSERT INTO agent_chat_messages VALUES(9,3,4,'m-a72bc31ce412',1,'user','Am I free tomorrow?','{"type":"user_input"}',3,0,0,0,'CNY',1794915397949);
INSERT INTO agent_chat_messages VALUES(10,3,4,'01a1e94b-7141-7878-be5d-3ecaf5e8fb0f',-1,'assistant','{"route": "NEEDS_EXECUTION", "intent_summary": "Asks whether tomorrow is free", "safety_flags": [], "execution_brief": "Look up 2026-11-17", "assistant_text": null}','{"type":"stage_audit","stage":"router","status":"success","provider":"fake","model":"fake","costSource":"catalog_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":100,"output_tokens":10,"total_tokens":110,"latency_ms":0,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":1,"usage_records":1,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',0,100,10,230000000,'CNY',1794915397953);
INSERT INTO agent_chat_messages VALUES(11,3,4,'01a1e94b-7142-79fd-aed3-0b014f11686f',2,'assistant','Let me look.','{"type":"assistant_output","stage":"worker","status":"complete"}',3,0,0,0,'CNY',1794915397956);
INSERT INTO agent_chat_messages VALUES(12,3,4,'01a1e94b-7144-7acd-87d5-d78566b23b66',3,'assistant','{"module":"calendar","method":"echo","input":{"date":"é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \"\\/\b\f\n\r\t 你好"}}','{"type":"tool_call","tool_name":"project_cli","tool_call_id":"call_01a1e94b-7144-7539-b395-a88cb002d634","stage":"worker"}',3,0,0,0,'CNY',1794915397956);
INSERT INTO agent_chat_messages VALUES(13,3,4,'01a1e94b-7144-7959-9d56-c9b72b3459c2',4,'assistant','{"module":"calendar","method":"part","input":{"items":[1,2]}}','{"type":"tool_call","tool_name":"project_cli","tool_call_id":"call_01a1e94b-7144-70a6-b824-404c21c72f9b","stage":"worker"}',3,0,0,0,'CNY',1794915397956);
INSERT INTO agent_chat_messages VALUES(14,3,4,'01a1e94b-7146-7ff5-9a69-a0c0479d11f9',5,'tool','{"module":"calendar","method":"echo","data":{"date":"é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \"\\/\b\f\n\r\t 你好"}}','{"type":"tool_result","tool_name":"project_cli","tool_call_id":"call_01a1e94b-7144-7539-b395-a88cb002d634","stage":"worker"}',3,0,0,0,'CNY',1794915397958);
INSERT INTO agent_chat_messages VALUES(15,3,4,'01a1e94b-7147-7f62-b679-18c333a9c9ba',6,'tool','{"module":"calendar","method":"part","data":{"items":[1,2]}}','{"type":"tool_result","tool_name":"project_cli","tool_call_id":"call_01a1e94b-7144-70a6-b824-404c21c72f9b","stage":"worker"}',3,0,0,0,'CNY',1794915397959);
INSERT INTO agent_chat_messages VALUES(16,3,4,'01a1e94b-714a-7afe-960d-99bbe752f36f',7,'assistant','{"module":"calendar","method":"fail","input":{}}','{"type":"tool_call","tool_name":"project_cli","tool_call_id":"call_01a1e94b-714a-72e0-b87c-5cd79be47ff0","stage":"worker"}',3,0,0,0,'CNY',1794915397962);
INSERT INTO agent_chat_messages VALUES(17,3,4,'01a1e94b-714c-7b62-9e21-983a852fe688',8,'tool','{"status":"failure","error":{"code":"TEST_FAILURE","message":"the test tool fails when it is asked to"}}','{"type":"tool_result","tool_name":"project_cli","tool_call_id":"call_01a1e94b-714a-72e0-b87c-5cd79be47ff0","stage":"worker"}',3,0,0,0,'CNY',1794915397964);
INSERT INTO agent_chat_messages VALUES(18,3,4,'01a1e94b-714d-7e85-a217-914c8b40cd28',9,'assistant','Nothing can be found.','{"type":"assistant_output","stage":"worker","status":"partial_success","provider":"fake","model":"fake","costSource":"catalog_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":900,"output_tokens":90,"total_tokens":990,"latency_ms":4,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":3,"usage_records":3,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',3,900,90,2070000000,'CNY',1794915397967);
INSERT INTO agent_chat_messages VALUES(19,3,4,'01a1e94b-714f-7baf-aa54-cd4e901e9c29',-2,'assistant','{"status": "PARTIAL", "result_type": "execution_report", "key_points": [], "suggested_actions": [], "error": null, "answer": "Nothing can be found."}','{"type":"stage_audit","stage":"worker","status":"success"}',0,0,0,0,'CNY',1794915397967);
INSERT INTO agent_chat_messages VALUES(20,4,5,'m-5aac78fe8988',1,'user','Am I free tomorrow?','{"type":"user_input"}',3,0,0,0,'CNY',1794915397970);
INSERT INTO agent_chat_messages VALUES(21,4,5,'01a1e94b-7155-77a9-963a-71a61d58183b',-1,'assistant','{"route": "NEEDS_EXECUTION", "intent_summary": "Asks whether tomorrow is free", "safety_flags": [], "execution_brief": "Look up 2026-11-17", "assistant_text": null}','{"type":"stage_audit","stage":"intent","status":"success","provider":"fake","model":"fake","costSource":"catalog_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":100,"output_tokens":10,"total_tokens":110,"latency_ms":0,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":1,"usage_records":1,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',0,100,10,230000000,'CNY',1794915397973);
INSERT INTO agent_chat_messages VALUES(22,4,5,'01a1e94b-7158-73a4-9b68-b346776fbf3b',2,'assistant','{"module":"calendar","method":"echo","input":{"day":1}}','{"type":"tool_call","tool_name":"project_cli","tool_call_id":"call_01a1e94b-7158-7dbb-a216-bd927e673ae7","stage":"execution"}',3,0,0,0,'CNY',1794915397976);
INSERT INTO agent_chat_messages VALUES(23,4,5,'01a1e94b-715a-7a81-a8dd-e252f9feebe0',3,'tool','{"module":"calendar","method":"echo","data":{"day":1}}','{"type":"tool_result","tool_name":"project_cli","tool_call_id":"call_01a1e94b-7158-7dbb-a216-bd927e673ae7","stage":"execution"}',3,0,0,0,'CNY',1794915397978);
INSERT INTO agent_chat_messages VALUES(24,4,5,'01a1e94b-715d-7e7a-897e-bc6e6cf4fd94',-2,'assistant','{"status": "SUCCESS", "execution_summary": "Looked it up", "execution_data": {"events": 0}, "error_message": null, "report_brief": "tomorrow is free"}','{"type":"stage_audit","stage":"execution","status":"success","provider":"fake","model":"fake","costSource":"catalog_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":500,"output_tokens":50,"total_tokens":550,"latency_ms":1,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":2,"usage_records":2,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',0,500,50,1150000000,'CNY',1794915397981);
INSERT INTO agent_chat_messages VALUES(25,4,5,'01a1e94b-715e-79a8-a067-8ff1056cf513',4,'assistant','You are free tomorrow.','{"type":"assistant_output","stage":"organization","status":"success","provider":"fake","model":"fake","costSource":"catalog_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":400,"output_tokens":40,"total_tokens":440,"latency_ms":1,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":1,"usage_records":1,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',3,400,40,920000000,'CNY',1794915397984);
INSERT INTO agent_chat_messages VALUES(26,4,5,'01a1e94b-7160-7172-98ae-2f4a8352570b',-3,'assistant','{"response_metadata": {}, "assistant_text": "You are free tomorrow."}','{"type":"stage_audit","stage":"organization","status":"success"}',0,0,0,0,'CNY',1794915397984);
INSERT INTO agent_chat_messages VALUES(27,4,6,'m-e6a5310c6ec7',5,'user','Am I free tomorrow?','{"type":"user_input"}',3,0,0,0,'CNY',1794915397987);
INSERT INTO agent_chat_messages VALUES(28,4,6,'01a1e94b-7164-70cd-b00e-573967ef4ecd',6,'assistant','Yes, you are. 你好 🙂','{"type":"assistant_output","stage":"intent","status":"success","provider":"fake","model":"fake","costSource":"catalog_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":100,"output_tokens":10,"total_tokens":110,"latency_ms":1,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":1,"usage_records":1,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',3,100,10,230000000,'CNY',1794915397991);
INSERT INTO agent_chat_messages VALUES(29,4,6,'01a1e94b-7167-71d0-b9b5-1cb722063ea6',-4,'assistant','{"route": "DIRECT_EXECUTION", "intent_summary": "Asks what I know", "safety_flags": [], "execution_brief": null, "assistant_text": "Yes, you are. 你好 🙂"}','{"type":"stage_audit","stage":"intent","status":"success"}',0,0,0,0,'CNY',1794915397991);
INSERT INTO agent_chat_messages VALUES(30,5,7,'m-e0bf38123c1d',1,'user','Am I free tomorrow?','{"type":"user_input"}',3,0,0,0,'CNY',1794915397993);
INSERT INTO agent_chat_messages VALUES(31,5,7,'01a1e94b-716d-7b06-a10a-e55d204d0b98',-1,'assistant','{"route": "NEEDS_EXECUTION", "intent_summary": "Asks whether tomorrow is free", "safety_flags": [], "execution_brief": "Look up 2026-11-17", "assistant_text": null}','{"type":"stage_audit","stage":"router","status":"success","provider":"fake","model":"fake","costSource":"catalog_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":100,"output_tokens":10,"total_tokens":110,"latency_ms":1,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":1,"usage_records":1,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',0,100,10,230000000,'CNY',1794915397998);
INSERT INTO agent_chat_messages VALUES(32,5,7,'01a1e94b-7171-7f5c-8b22-0484f0b09155',-2,'assistant','{"status": "WHAT"}','{"type":"stage_audit","stage":"worker","status":"rejected"}',0,0,0,0,'CNY',1794915398001);
INSERT INTO agent_chat_messages VALUES(33,5,7,'01a1e94b-7172-7fca-9dbb-5ba0e329d44b',2,'assistant','You are free tomorrow.','{"type":"assistant_output","stage":"worker","status":"success","provider":"fake","model":"fake","costSource":"catalog_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":500,"output_tokens":50,"total_tokens":550,"latency_ms":1,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":2,"usage_records":2,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',3,500,50,1150000000,'CNY',1794915398005);
INSERT INTO agent_chat_messages VALUES(34,5,7,'01a1e94b-7175-7a85-8a66-dc27de1b1b8d',-3,'assistant','{"status": "SUCCESS", "result_type": "execution_report", "key_points": [], "suggested_actions": ["Book a meeting"], "error": null, "answer": "You are free tomorrow."}','{"type":"stage_audit","stage":"worker","status":"success"}',0,0,0,0,'CNY',1794915398005);
INSERT INTO agent_chat_messages VALUES(35,6,8,'m-8375951546a4',1,'user','Am I free tomorrow?','{"type":"user_input"}',3,0,0,0,'CNY',1794915398008);
INSERT INTO agent_chat_messages VALUES(36,6,8,'01a1e94b-717c-74c3-b794-c833ccbe59ab',-1,'assistant','','{"type":"stage_audit","stage":"chat","status":"failed","provider":"fake","model":"fake","costSource":"catalog_fallback","cost_source":null,"usage_summary":{"input_tokens":0,"output_tokens":0,"total_tokens":0,"latency_ms":0,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":0,"usage_records":0,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',0,0,0,0,'CNY',1794915398012);
INSERT INTO agent_chat_messages VALUES(37,7,9,'m-ba39a7f6fdbb',1,'user','Am I free tomorrow?','{"type":"user_input"}',3,0,0,0,'CNY',1794915398014);
INSERT INTO agent_chat_messages VALUES(38,7,9,'01a1e94b-7377-76c1-a9af-d88b76a830e7',-1,'assistant','','{"type":"stage_audit","stage":"chat","status":"canceled","provider":"fake","model":"fake","costSource":"incomplete_usage_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":302,"output_tokens":5,"total_tokens":307,"latency_ms":502,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":1,"usage_records":0,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',0,302,5,619000000,'CNY',1794915398520);
INSERT INTO agent_chat_messages VALUES(39,7,9,'01a1e94b-7180-7c8c-a178-f324fbd16bbf',2,'assistant','Half of an ans','{"type":"assistant_output","stage":"chat","status":"canceled"}',3,0,0,0,'CNY',1794915398520);
INSERT INTO agent_chat_messages VALUES(40,8,10,'m-7684e027e128',1,'user','Am I free tomorrow?','{"type":"user_input"}',0,0,0,0,'CNY',1794915398523);
INSERT INTO agent_chat_messages VALUES(41,8,10,'01a1e94b-7575-746a-af7c-64482feb68ea',-1,'assistant','','{"type":"stage_audit","stage":"chat","status":"canceled","provider":"fake","model":"fake","costSource":"incomplete_usage_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":302,"output_tokens":7,"total_tokens":309,"latency_ms":503,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":1,"usage_records":0,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',0,302,7,625000000,'CNY',1794915399029);
INSERT INTO agent_chat_messages VALUES(42,8,10,'01a1e94b-737c-7f4c-8135-4c8a9a21f0a7',2,'assistant','This will be taken back','{"type":"assistant_output","stage":"chat","status":"canceled"}',0,0,0,0,'CNY',1794915399029);
INSERT INTO agent_chat_messages VALUES(43,8,11,'m-a4b0b66c96eb',3,'user','Am I free tomorrow?','{"type":"user_input"}',3,0,0,0,'CNY',1794915399032);
INSERT INTO agent_chat_messages VALUES(44,8,11,'01a1e94b-757a-729d-8dc1-ab639f519604',4,'assistant','This stays','{"type":"assistant_output","stage":"chat","status":"success","provider":"fake","model":"fake","costSource":"catalog_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":10,"output_tokens":1,"total_tokens":11,"latency_ms":1,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":1,"usage_records":1,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',3,10,1,23000000,'CNY',1794915399036);
INSERT INTO agent_chat_messages VALUES(45,9,12,'m-6186ea549b77',1,'user','Am I free tomorrow?','{"type":"user_input"}',3,0,0,0,'CNY',1794915399039);
INSERT INTO agent_chat_messages VALUES(46,9,12,'01a1e94b-7583-7c0c-bcec-d986e03208cc',-1,'assistant','{"route": "NEEDS_EXECUTION", "intent_summary": "Asks whether tomorrow is free", "safety_flags": [], "execution_brief": "Look up 2026-11-17", "assistant_text": null}','{"type":"stage_audit","stage":"router","status":"success","provider":"fake","model":"fake","costSource":"catalog_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":100,"output_tokens":10,"total_tokens":110,"latency_ms":1,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":1,"usage_records":1,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',0,100,10,230000000,'CNY',1794915399043);
INSERT INTO agent_chat_messages VALUES(47,9,12,'01a1e94b-7584-73d7-88dd-b10ee574a747',2,'assistant','You are fr','{"type":"assistant_output","stage":"worker","status":"superseded"}',0,0,0,0,'CNY',1794915399606);
INSERT INTO agent_chat_messages VALUES(48,9,12,'01a1e94b-77b8-71e3-adaf-3b92d06e8259',3,'assistant','You are free tomorrow.','{"type":"assistant_output","stage":"worker","status":"success","provider":"fake","model":"fake","costSource":"incomplete_usage_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":1193,"output_tokens":33,"total_tokens":1226,"latency_ms":564,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":2,"usage_records":1,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',3,1193,33,2485000000,'CNY',1794915399611);
INSERT INTO agent_chat_messages VALUES(49,9,12,'01a1e94b-77bb-75ac-b555-924132be4f37',-2,'assistant','{"status": "SUCCESS", "result_type": "execution_report", "key_points": [], "suggested_actions": ["Book a meeting"], "error": null, "answer": "You are free tomorrow."}','{"type":"stage_audit","stage":"worker","status":"success"}',0,0,0,0,'CNY',1794915399611);
INSERT INTO agent_chat_messages VALUES(50,10,13,'m-22c058e9a8c1',1,'user','Am I free tomorrow?','{"type":"user_input"}',3,0,0,0,'CNY',1794915399666);
INSERT INTO agent_chat_messages VALUES(51,10,13,'01a1e94b-77fc-7a98-b357-35ea0b745188',-1,'assistant','{"route": "NEEDS_EXECUTION", "intent_summary": "Asks whether tomorrow is free", "safety_flags": [], "execution_brief": "Look up 2026-11-17", "assistant_text": null}','{"type":"stage_audit","stage":"router","status":"success","provider":"fake","model":"fake","costSource":"catalog_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":100,"output_tokens":10,"total_tokens":110,"latency_ms":1,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":1,"usage_records":1,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',0,100,10,230000000,'CNY',1794915399677);
INSERT INTO agent_chat_messages VALUES(52,11,15,'m-e4c8bcfac57b',1,'user','Am I free tomorrow?','{"type":"user_input"}',3,0,0,0,'CNY',1794915400184);
INSERT INTO agent_chat_messages VALUES(53,11,15,'01a1e94b-79fc-79e1-b043-f4fa990a9a16',-1,'assistant','{"route": "NEEDS_EXECUTION", "intent_summary": "Asks whether tomorrow is free", "safety_flags": [], "execution_brief": "Look up 2026-11-17", "assistant_text": null}','{"type":"stage_audit","stage":"router","status":"success","provider":"fake","model":"fake","costSource":"catalog_fallback","cost_source":"custom_pricing","usage_summary":{"input_tokens":100,"output_tokens":10,"total_tokens":110,"latency_ms":1,"cached_prompt_tokens":0,"prompt_cache_hit_tokens":0,"prompt_cache_miss_tokens":0,"reasoning_tokens":0,"direct_cost":"0","direct_cost_observed":0,"direct_cost_complete":0,"model_call_records":1,"usage_records":1,"direct_cost_records":0,"cost_source":"catalog_fallback"}}',0,100,10,230000000,'CNY',1794915400188);
CREATE TABLE health(
  id INTEGER PRIMARY KEY CONSTRAINT chk_health_one_row CHECK (id = 1),
  probes INTEGER NOT NULL
);
INSERT INTO health VALUES(1,0);
CREATE TABLE model_calls(
  row_no INTEGER PRIMARY KEY,
  id TEXT NOT NULL CONSTRAINT uq_calls_id UNIQUE,
  owner_id TEXT NOT NULL,
  thread_ref TEXT NOT NULL,
  run_ref TEXT NOT NULL,
  run_id INTEGER REFERENCES runs(id) ON DELETE SET NULL,
  epoch INTEGER NOT NULL,
  stage TEXT NOT NULL,
  attempt INTEGER NOT NULL CONSTRAINT chk_call_attempt CHECK (attempt >= 1),
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  input_estimate INTEGER NOT NULL CONSTRAINT chk_call_input_estimate CHECK (input_estimate >= 0),
  cost_estimate INTEGER NOT NULL CONSTRAINT chk_call_cost_estimate CHECK (cost_estimate >= 0),
  reserve INTEGER NOT NULL CONSTRAINT chk_call_reserve CHECK (reserve >= 0),
  currency VARCHAR(3) NOT NULL,

  status TEXT NOT NULL DEFAULT 'open' CONSTRAINT chk_call_status CHECK (status IN
    ('open','completed','failed','canceled','interrupted')),
  ended_at INTEGER,
  error_code TEXT,
  latency_ms INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_latency CHECK (latency_ms >= 0),
  first_token_ms INTEGER CONSTRAINT chk_call_first_token CHECK (first_token_ms >= 0),
  input_tokens INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_input_tokens CHECK (input_tokens >= 0),
  output_tokens INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_output_tokens CHECK (output_tokens >= 0),
  total_tokens INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_total_tokens CHECK (total_tokens >= 0),
  cached_tokens INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_cached_tokens CHECK (cached_tokens >= 0),
  cache_hit_tokens INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_cache_hit CHECK (cache_hit_tokens >= 0),
  cache_miss_tokens INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_cache_miss CHECK (cache_miss_tokens >= 0),
  cache_write_tokens INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_cache_write CHECK (cache_write_tokens >= 0),
  reasoning_tokens INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_reasoning CHECK (reasoning_tokens >= 0),
  usage_complete INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_complete CHECK (usage_complete IN (0, 1)),
  direct_cost INTEGER CONSTRAINT chk_call_direct_cost CHECK (direct_cost >= 0),
  direct_observed INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_observed CHECK (direct_observed IN (0, 1)),
  catalog_cost INTEGER NOT NULL DEFAULT 0 CONSTRAINT chk_call_catalog_cost CHECK (catalog_cost >= 0),
  price_list TEXT NOT NULL DEFAULT 'none' CONSTRAINT chk_call_price_list CHECK (price_list IN
    ('none','custom_pricing','litellm_catalog')),
  price TEXT NOT NULL DEFAULT '{}' CONSTRAINT chk_call_price CHECK (json_valid(price)),

  cost INTEGER NOT NULL CONSTRAINT chk_call_cost CHECK (cost >= 0),
  cost_source TEXT CONSTRAINT chk_call_cost_source CHECK (cost_source IN
    ('provider','catalog_fallback','catalog_fallback_incomplete_provider_cost','incomplete_usage_fallback')),
  message_id TEXT,

  CONSTRAINT chk_call_ended_at CHECK ((status = 'open') = (ended_at IS NULL)),
  CONSTRAINT chk_call_held CHECK (status <> 'open' OR cost = reserve),
  CONSTRAINT chk_call_booked CHECK ((message_id IS NULL) = (cost_source IS NULL)
    AND (message_id IS NULL OR status <> 'open'))
);
INSERT INTO model_calls VALUES(1,'01a1e94b-7125-7821-abe3-91682e902013','bob','b-chat','b-1',1,1794915397923,'chat',1,'fake','fake',1794828997925,262,524000000,1692000000,'CNY','completed',1794828997929,NULL,2,1,10,2,12,0,0,0,0,0,1,NULL,0,26000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":false,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":10,"cache_hit":0,"cache_write":0,"output":2}}',26000000,'catalog_fallback','01a1e94b-7125-7a40-9a68-0cf1541767c5');
INSERT INTO model_calls VALUES(2,'01a1e94b-712e-7fe4-8e1e-56dbf8de6f36','bob','b-chat','b-2',2,1794915397932,'chat',1,'fake','fake-two',1794828997934,301,602000000,1920000000,'CNY','completed',1794828997936,NULL,1,0,12345,678,13023,0,0,0,0,0,1,NULL,0,26724000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":false,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":12345,"cache_hit":0,"cache_write":0,"output":678}}',26724000000,'catalog_fallback','01a1e94b-712e-7a83-9f47-224eea1bef92');
INSERT INTO model_calls VALUES(3,'01a1e94b-7133-7377-8fac-d1272a3a6be6','bob','b-router','b-3',3,1794915397938,'router',1,'fake','fake',1794915397939,613,1226000000,3998000000,'CNY','completed',1794915397942,NULL,0,0,100,10,110,0,0,0,0,0,1,NULL,0,230000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":true,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":100,"cache_hit":0,"cache_write":0,"output":10}}',230000000,'catalog_fallback','01a1e94b-7136-7c62-8f1a-3109ae7673da');
INSERT INTO model_calls VALUES(4,'01a1e94b-7138-7f79-b7e9-3eba59bf4ec9','bob','b-router','b-3',3,1794915397938,'worker',1,'fake','fake',1794915397944,835,1670000000,5448000000,'CNY','completed',1794915397946,NULL,1,0,200,20,220,0,0,0,0,0,1,NULL,0,460000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":false,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":200,"cache_hit":0,"cache_write":0,"output":20}}',460000000,'catalog_fallback','01a1e94b-7138-7d97-95b7-c26ea3742437');
INSERT INTO model_calls VALUES(5,'01a1e94b-713f-7432-9738-ba59ff44557a','ann','a-tools','a-1',4,1794915397949,'router',1,'fake','fake',1794915397951,668,1336000000,4366000000,'CNY','completed',1794915397952,NULL,0,0,100,10,110,0,0,0,0,0,1,NULL,0,230000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":true,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":100,"cache_hit":0,"cache_write":0,"output":10}}',230000000,'catalog_fallback','01a1e94b-7141-7878-be5d-3ecaf5e8fb0f');
INSERT INTO model_calls VALUES(6,'01a1e94b-7142-7059-83b9-7ebc167aadcd','ann','a-tools','a-1',4,1794915397949,'worker',1,'fake','fake',1794915397954,893,1786000000,5836000000,'CNY','completed',1794915397956,NULL,1,0,200,20,220,0,0,0,0,0,1,NULL,0,460000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":false,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":200,"cache_hit":0,"cache_write":0,"output":20}}',460000000,'catalog_fallback','01a1e94b-714d-7e85-a217-914c8b40cd28');
INSERT INTO model_calls VALUES(7,'01a1e94b-7148-7f42-9b44-69e47bc96b01','ann','a-tools','a-1',4,1794915397949,'worker',1,'fake','fake',1794915397960,1087,2174000000,7026000000,'CNY','completed',1794915397962,NULL,2,1,300,30,330,0,0,0,0,0,1,NULL,0,690000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":false,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":300,"cache_hit":0,"cache_write":0,"output":30}}',690000000,'catalog_fallback','01a1e94b-714d-7e85-a217-914c8b40cd28');
INSERT INTO model_calls VALUES(8,'01a1e94b-714d-7f9d-a362-6bf7301c2298','ann','a-tools','a-1',4,1794915397949,'worker',1,'fake','fake',1794915397965,1157,2314000000,7426000000,'CNY','completed',1794915397967,NULL,1,1,400,40,440,0,0,0,0,0,1,NULL,0,920000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":false,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":400,"cache_hit":0,"cache_write":0,"output":40}}',920000000,'catalog_fallback','01a1e94b-714d-7e85-a217-914c8b40cd28');
INSERT INTO model_calls VALUES(9,'01a1e94b-7153-71ed-9143-36ff79eff16b','ann','a-three','a-2',5,1794915397970,'intent',1,'fake','fake',1794915397971,773,1546000000,5066000000,'CNY','completed',1794915397973,NULL,0,0,100,10,110,0,0,0,0,0,1,NULL,0,230000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":false,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":100,"cache_hit":0,"cache_write":0,"output":10}}',230000000,'catalog_fallback','01a1e94b-7155-77a9-963a-71a61d58183b');
INSERT INTO model_calls VALUES(10,'01a1e94b-7156-7b5c-bf0a-197ad04b60b2','ann','a-three','a-2',5,1794915397970,'execution',1,'fake','fake',1794915397974,712,1424000000,4630000000,'CNY','completed',1794915397976,NULL,1,0,200,20,220,0,0,0,0,0,1,NULL,0,460000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":false,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":200,"cache_hit":0,"cache_write":0,"output":20}}',460000000,'catalog_fallback','01a1e94b-715d-7e7a-897e-bc6e6cf4fd94');
INSERT INTO model_calls VALUES(11,'01a1e94b-715b-7639-aa64-7d0c6bf83a4b','ann','a-three','a-2',5,1794915397970,'execution',1,'fake','fake',1794915397979,770,1540000000,4946000000,'CNY','completed',1794915397980,NULL,0,0,300,30,330,0,0,0,0,0,1,NULL,0,690000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":false,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":300,"cache_hit":0,"cache_write":0,"output":30}}',690000000,'catalog_fallback','01a1e94b-715d-7e7a-897e-bc6e6cf4fd94');
INSERT INTO model_calls VALUES(12,'01a1e94b-715e-7417-a140-17966651b30a','ann','a-three','a-2',5,1794915397970,'organization',1,'fake','fake',1794915397982,594,1188000000,3892000000,'CNY','completed',1794915397984,NULL,1,1,400,40,440,0,0,0,0,0,1,NULL,0,920000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":false,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":400,"cache_hit":0,"cache_write":0,"output":40}}',920000000,'catalog_fallback','01a1e94b-715e-79a8-a067-8ff1056cf513');
INSERT INTO model_calls VALUES(13,'01a1e94b-7164-794d-81f0-f33dfad1dc78','ann','a-three','a-3',6,1794915397987,'intent',1,'fake','fake',1794915397988,844,1688000000,5428000000,'CNY','completed',1794915397990,NULL,1,0,100,10,110,0,0,0,0,0,1,NULL,0,230000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":true,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":100,"cache_hit":0,"cache_write":0,"output":10}}',230000000,'catalog_fallback','01a1e94b-7164-70cd-b00e-573967ef4ecd');
INSERT INTO model_calls VALUES(14,'01a1e94b-716b-7d9f-9c36-fc04184d6fb4','ann','a-repaired','a-4',7,1794915397993,'router',1,'fake','fake',1794915397995,668,1336000000,4366000000,'CNY','completed',1794915397997,NULL,1,1,100,10,110,0,0,0,0,0,1,NULL,0,230000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":true,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":100,"cache_hit":0,"cache_write":0,"output":10}}',230000000,'catalog_fallback','01a1e94b-716d-7b06-a10a-e55d204d0b98');
INSERT INTO model_calls VALUES(15,'01a1e94b-716f-7261-b6c7-fcfa01acb0aa','ann','a-repaired','a-4',7,1794915397993,'worker',1,'fake','fake',1794915397999,893,1786000000,5836000000,'CNY','completed',1794915398001,NULL,0,0,200,20,220,0,0,0,0,0,1,NULL,0,460000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":false,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":200,"cache_hit":0,"cache_write":0,"output":20}}',460000000,'catalog_fallback','01a1e94b-7172-7fca-9dbb-5ba0e329d44b');
INSERT INTO model_calls VALUES(16,'01a1e94b-7172-7333-a93d-6947ddced8fb','ann','a-repaired','a-4',7,1794915397993,'worker',1,'fake','fake',1794915398002,888,1776000000,5788000000,'CNY','completed',1794915398005,NULL,1,1,300,30,330,0,0,0,0,0,1,NULL,0,690000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":false,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":300,"cache_hit":0,"cache_write":0,"output":30}}',690000000,'catalog_fallback','01a1e94b-7172-7fca-9dbb-5ba0e329d44b');
INSERT INTO model_calls VALUES(17,'01a1e94b-7179-7755-895f-b9b64b6f378d','ann','a-failed','a-5',8,1794915398008,'chat',1,'fake','fake',1794915398009,302,604000000,1946000000,'CNY','failed',1794915398011,'MODEL_REJECTED',0,NULL,0,0,0,0,0,0,0,0,1,NULL,0,0,'none','{}',0,'catalog_fallback','01a1e94b-717c-74c3-b794-c833ccbe59ab');
INSERT INTO model_calls VALUES(18,'01a1e94b-7180-74a7-ac31-9944162106ce','ann','a-cancelled','a-6',9,1794915398014,'chat',1,'fake','fake',1794915398016,302,604000000,1946000000,'CNY','canceled',1794915398519,NULL,502,1,302,5,307,0,0,0,0,0,0,NULL,0,619000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":false,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":302,"cache_hit":0,"cache_write":0,"output":5}}',619000000,'incomplete_usage_fallback','01a1e94b-7377-76c1-a9af-d88b76a830e7');
INSERT INTO model_calls VALUES(19,'01a1e94b-737c-7b02-898f-8f6a870f1173','ann','a-rolled','a-7',10,1794915398523,'chat',1,'fake','fake',1794915398524,302,604000000,1946000000,'CNY','canceled',1794915399029,NULL,503,0,302,7,309,0,0,0,0,0,0,NULL,0,625000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":false,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":302,"cache_hit":0,"cache_write":0,"output":7}}',625000000,'incomplete_usage_fallback','01a1e94b-7575-746a-af7c-64482feb68ea');
INSERT INTO model_calls VALUES(20,'01a1e94b-757a-7330-aba6-a4a47c64d8d4','ann','a-rolled','a-8',11,1794915399032,'chat',1,'fake','fake',1794915399034,302,604000000,1946000000,'CNY','completed',1794915399036,NULL,1,1,10,1,11,0,0,0,0,0,1,NULL,0,23000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":false,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":10,"cache_hit":0,"cache_write":0,"output":1}}',23000000,'catalog_fallback','01a1e94b-757a-729d-8dc1-ab639f519604');
INSERT INTO model_calls VALUES(21,'01a1e94b-7581-7158-9b07-cb2af31d54ea','ann','a-recovered','a-9',12,1794915399039,'router',1,'fake','fake',1794915399041,668,1336000000,4366000000,'CNY','completed',1794915399043,NULL,1,1,100,10,110,0,0,0,0,0,1,NULL,0,230000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":true,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":100,"cache_hit":0,"cache_write":0,"output":10}}',230000000,'catalog_fallback','01a1e94b-7583-7c0c-bcec-d986e03208cc');
INSERT INTO model_calls VALUES(22,'01a1e94b-7584-7547-b41d-df9f1e0fd631','ann','a-recovered','a-9',12,1794915399039,'worker',1,'fake','fake',1794915399044,893,1786000000,5836000000,'CNY','interrupted',1794915399606,NULL,562,NULL,893,3,896,0,0,0,0,0,0,NULL,0,1795000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":false,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":893,"cache_hit":0,"cache_write":0,"output":3}}',1795000000,'incomplete_usage_fallback','01a1e94b-77b8-71e3-adaf-3b92d06e8259');
INSERT INTO model_calls VALUES(23,'01a1e94b-77b8-778b-87d9-b9202fe8274c','ann','a-recovered','a-9',12,1794915399598,'worker',1,'fake','fake',1794915399608,893,1786000000,5836000000,'CNY','completed',1794915399611,NULL,2,1,300,30,330,0,0,0,0,0,1,NULL,0,690000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":false,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":300,"cache_hit":0,"cache_write":0,"output":30}}',690000000,'incomplete_usage_fallback','01a1e94b-77b8-71e3-adaf-3b92d06e8259');
INSERT INTO model_calls VALUES(24,'01a1e94b-77fa-7725-ad86-e4fb3231210f','ann','a-going','a-10',13,1794915399666,'router',1,'fake','fake',1794915399674,668,1336000000,4366000000,'CNY','completed',1794915399676,NULL,1,1,100,10,110,0,0,0,0,0,1,NULL,0,230000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":true,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":100,"cache_hit":0,"cache_write":0,"output":10}}',230000000,'catalog_fallback','01a1e94b-77fc-7a98-b357-35ea0b745188');
INSERT INTO model_calls VALUES(25,'01a1e94b-77ff-7230-ac48-c2178587afa0','ann','a-going','a-10',13,1794915399666,'worker',1,'fake','fake',1794915399679,893,1786000000,5836000000,'CNY','open',NULL,NULL,0,NULL,0,0,0,0,0,0,0,0,0,NULL,0,0,'none','{}',5836000000,NULL,NULL);
INSERT INTO model_calls VALUES(26,'01a1e94b-79fa-7b2e-bf31-6fdb3503ecac','ann','a-stale','a-12',15,1794915400184,'router',1,'fake','fake',1794915400186,668,1336000000,4366000000,'CNY','completed',1794915400188,NULL,1,1,100,10,110,0,0,0,0,0,1,NULL,0,230000000,'custom_pricing','{"list":"custom_pricing","model":"fake*","currency":"CNY","from":null,"until":null,"zone":null,"window":null,"max_prompt_tokens":null,"thinking":true,"free":false,"per_million_tokens":{"input":"2","cache_hit":"0.2","cache_write":"2","output":"3"},"tokens":{"input":100,"cache_hit":0,"cache_write":0,"output":10}}',230000000,'catalog_fallback','01a1e94b-79fc-79e1-b043-f4fa990a9a16');
INSERT INTO model_calls VALUES(27,'01a1e94b-79fd-72c6-a008-697ff4cb0479','ann','a-stale','a-12',15,1794915400184,'worker',1,'fake','fake',1794915400189,893,1786000000,5836000000,'CNY','open',NULL,NULL,0,NULL,0,0,0,0,0,0,0,0,0,NULL,0,0,'none','{}',5836000000,NULL,NULL);
CREATE TABLE checkpoints(
  run_id INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  number INTEGER NOT NULL CONSTRAINT chk_checkpoint_number CHECK (number >= 1),
  stage TEXT NOT NULL,
  kind TEXT NOT NULL CONSTRAINT chk_checkpoint_kind CHECK (kind <> ''),
  body TEXT NOT NULL CONSTRAINT chk_checkpoint_body CHECK (
    CASE WHEN json_valid(body) THEN json_type(body) = 'object' ELSE 0 END),
  PRIMARY KEY (run_id, number)
);
INSERT INTO checkpoints VALUES(3,1,'router','stage','{"result":"{\"route\":\"NEEDS_EXECUTION\",\"intent_summary\":\"Asks whether tomorrow is free\",\"safety_flags\":[],\"execution_brief\":\"Look up 2026-11-17\",\"assistant_text\":null}","label":"","usage":[{"provider":"fake","model":"fake","input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":230000000,"complete":true}]}');
INSERT INTO checkpoints VALUES(4,1,'router','stage','{"result":"{\"route\":\"NEEDS_EXECUTION\",\"intent_summary\":\"Asks whether tomorrow is free\",\"safety_flags\":[],\"execution_brief\":\"Look up 2026-11-17\",\"assistant_text\":null}","label":"","usage":[{"provider":"fake","model":"fake","input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":230000000,"complete":true}]}');
INSERT INTO checkpoints VALUES(4,2,'worker','turn','{"text":"Let me look.","reasoning":"","calls":[{"id":"call_01a1e94b-7144-7539-b395-a88cb002d634","name":"project_cli","arguments":"{\"module\": \"calendar\", \"method\": \"echo\", \"input\": {\"date\": \"e\\u0301 \\u00e9 \\ud83d\\udc69\\u200d\\ud83d\\udcbb \\u202eabc\\u202c \\u2066x\\u2069 \\u2028 \\u2029 \\u00a0 \\ufeff \\uffff \\udbff\\udfff \\u0085 \\u007f \\\"\\\\/\\b\\f\\n\\r\\t \\u4f60\\u597d\"}, \"intent\": \"to see\"}"},{"id":"call_01a1e94b-7144-70a6-b824-404c21c72f9b","name":"project_cli","arguments":"{\"module\": \"calendar\", \"method\": \"part\", \"input\": {\"items\": [1, 2]}, \"intent\": \"to see\"}"}]}');
INSERT INTO checkpoints VALUES(4,3,'worker','tool','{"call":"call_01a1e94b-7144-7539-b395-a88cb002d634","result":"{\"module\":\"calendar\",\"method\":\"echo\",\"data\":{\"date\":\"é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   \\\"\\\\/\\b\\f\\n\\r\\t 你好\"}}"}');
INSERT INTO checkpoints VALUES(4,4,'worker','tool','{"call":"call_01a1e94b-7144-70a6-b824-404c21c72f9b","result":"{\"module\":\"calendar\",\"method\":\"part\",\"data\":{\"items\":[1,2]}}"}');
INSERT INTO checkpoints VALUES(4,5,'worker','turn','{"text":"","reasoning":"","calls":[{"id":"call_01a1e94b-714a-72e0-b87c-5cd79be47ff0","name":"project_cli","arguments":"{\"module\": \"calendar\", \"method\": \"fail\", \"input\": {}, \"intent\": \"to see\"}"}]}');
INSERT INTO checkpoints VALUES(4,6,'worker','tool','{"call":"call_01a1e94b-714a-72e0-b87c-5cd79be47ff0","result":"{\"status\":\"failure\",\"error\":{\"code\":\"TEST_FAILURE\",\"message\":\"the test tool fails when it is asked to\"}}"}');
INSERT INTO checkpoints VALUES(5,1,'intent','stage','{"result":"{\"route\":\"NEEDS_EXECUTION\",\"intent_summary\":\"Asks whether tomorrow is free\",\"safety_flags\":[],\"execution_brief\":\"Look up 2026-11-17\",\"assistant_text\":null}","label":"NEEDS_EXECUTION","usage":[{"provider":"fake","model":"fake","input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":230000000,"complete":true}]}');
INSERT INTO checkpoints VALUES(5,2,'execution','turn','{"text":"","reasoning":"","calls":[{"id":"call_01a1e94b-7158-7dbb-a216-bd927e673ae7","name":"project_cli","arguments":"{\"module\": \"calendar\", \"method\": \"echo\", \"input\": {\"day\": 1}, \"intent\": \"to see\"}"}]}');
INSERT INTO checkpoints VALUES(5,3,'execution','tool','{"call":"call_01a1e94b-7158-7dbb-a216-bd927e673ae7","result":"{\"module\":\"calendar\",\"method\":\"echo\",\"data\":{\"day\":1}}"}');
INSERT INTO checkpoints VALUES(5,4,'execution','stage','{"result":"{\"status\":\"SUCCESS\",\"execution_summary\":\"Looked it up\",\"execution_data\":{\"events\":0},\"error_message\":null,\"report_brief\":\"tomorrow is free\"}","label":"","usage":[{"provider":"fake","model":"fake","input_tokens":600,"output_tokens":60,"total_tokens":660,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":1380000000,"complete":true}]}');
INSERT INTO checkpoints VALUES(7,1,'router','stage','{"result":"{\"route\":\"NEEDS_EXECUTION\",\"intent_summary\":\"Asks whether tomorrow is free\",\"safety_flags\":[],\"execution_brief\":\"Look up 2026-11-17\",\"assistant_text\":null}","label":"","usage":[{"provider":"fake","model":"fake","input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":230000000,"complete":true}]}');
INSERT INTO checkpoints VALUES(7,2,'worker','rejected','{"output":"{\"status\": \"WHAT\"}","repair":"Your answer does not keep to the output format:\n- /answer: is required\n- /status: must be one of SUCCESS, PARTIAL or FAILED; it is \"WHAT\"\nAnswer again with the whole corrected JSON object and nothing else.","fault":"contract"}');
INSERT INTO checkpoints VALUES(12,1,'router','stage','{"result":"{\"route\":\"NEEDS_EXECUTION\",\"intent_summary\":\"Asks whether tomorrow is free\",\"safety_flags\":[],\"execution_brief\":\"Look up 2026-11-17\",\"assistant_text\":null}","label":"","usage":[{"provider":"fake","model":"fake","input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":230000000,"complete":true}]}');
INSERT INTO checkpoints VALUES(13,1,'router','stage','{"result":"{\"route\":\"NEEDS_EXECUTION\",\"intent_summary\":\"Asks whether tomorrow is free\",\"safety_flags\":[],\"execution_brief\":\"Look up 2026-11-17\",\"assistant_text\":null}","label":"","usage":[{"provider":"fake","model":"fake","input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":230000000,"complete":true}]}');
INSERT INTO checkpoints VALUES(15,1,'router','stage','{"result":"{\"route\":\"NEEDS_EXECUTION\",\"intent_summary\":\"Asks whether tomorrow is free\",\"safety_flags\":[],\"execution_brief\":\"Look up 2026-11-17\",\"assistant_text\":null}","label":"","usage":[{"provider":"fake","model":"fake","input_tokens":100,"output_tokens":10,"total_tokens":110,"cached_prompt_tokens":0,"cache_hit_tokens":0,"cache_miss_tokens":0,"reasoning_tokens":0,"cost_source":"catalog_fallback","cost":230000000,"complete":true}]}');
CREATE TABLE usage_totals(
  owner_id TEXT NOT NULL,
  thread_ref TEXT NOT NULL,
  day INTEGER NOT NULL,
  model TEXT NOT NULL,
  calls INTEGER NOT NULL,
  incomplete_calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cost_high INTEGER NOT NULL,
  cost_low INTEGER NOT NULL,
  PRIMARY KEY (owner_id, thread_ref, day, model)
) WITHOUT ROWID;
INSERT INTO usage_totals VALUES('ann','',20774,'fake',21,3,4807,346,0,0,0,10652000000);
INSERT INTO usage_totals VALUES('ann','a-cancelled',20774,'fake',1,1,302,5,0,0,0,619000000);
INSERT INTO usage_totals VALUES('ann','a-failed',20774,'fake',1,0,0,0,0,0,0,0);
INSERT INTO usage_totals VALUES('ann','a-going',20774,'fake',1,0,100,10,0,0,0,230000000);
INSERT INTO usage_totals VALUES('ann','a-recovered',20774,'fake',3,1,1293,43,0,0,0,2715000000);
INSERT INTO usage_totals VALUES('ann','a-repaired',20774,'fake',3,0,600,60,0,0,0,1380000000);
INSERT INTO usage_totals VALUES('ann','a-rolled',20774,'fake',2,1,312,8,0,0,0,648000000);
INSERT INTO usage_totals VALUES('ann','a-stale',20774,'fake',1,0,100,10,0,0,0,230000000);
INSERT INTO usage_totals VALUES('ann','a-three',20774,'fake',5,0,1100,110,0,0,0,2530000000);
INSERT INTO usage_totals VALUES('ann','a-tools',20774,'fake',4,0,1000,100,0,0,0,2300000000);
INSERT INTO usage_totals VALUES('bob','',20773,'fake',1,0,10,2,0,0,0,26000000);
INSERT INTO usage_totals VALUES('bob','',20773,'fake-two',1,0,12345,678,0,0,6,954196224);
INSERT INTO usage_totals VALUES('bob','',20774,'fake',2,0,300,30,0,0,0,690000000);
INSERT INTO usage_totals VALUES('bob','b-chat',20773,'fake',1,0,10,2,0,0,0,26000000);
INSERT INTO usage_totals VALUES('bob','b-chat',20773,'fake-two',1,0,12345,678,0,0,6,954196224);
INSERT INTO usage_totals VALUES('bob','b-router',20774,'fake',2,0,300,30,0,0,0,690000000);
CREATE TABLE spent_totals(
  owner_id TEXT NOT NULL,
  thread_ref TEXT NOT NULL,
  day INTEGER NOT NULL,
  cost_high INTEGER NOT NULL,
  cost_low INTEGER NOT NULL,
  PRIMARY KEY (owner_id, thread_ref, day)
) WITHOUT ROWID;
INSERT INTO spent_totals VALUES('ann','',-1,2,13734065408);
INSERT INTO spent_totals VALUES('ann','',20774,2,13734065408);
INSERT INTO spent_totals VALUES('ann','a-cancelled',-1,0,619000000);
INSERT INTO spent_totals VALUES('ann','a-failed',-1,0,0);
INSERT INTO spent_totals VALUES('ann','a-going',-1,1,1771032704);
INSERT INTO spent_totals VALUES('ann','a-recovered',-1,0,2715000000);
INSERT INTO spent_totals VALUES('ann','a-repaired',-1,0,1380000000);
INSERT INTO spent_totals VALUES('ann','a-rolled',-1,0,648000000);
INSERT INTO spent_totals VALUES('ann','a-stale',-1,1,1771032704);
INSERT INTO spent_totals VALUES('ann','a-three',-1,0,2530000000);
INSERT INTO spent_totals VALUES('ann','a-tools',-1,0,2300000000);
INSERT INTO spent_totals VALUES('bob','',-1,6,1670196224);
INSERT INTO spent_totals VALUES('bob','',20773,6,980196224);
INSERT INTO spent_totals VALUES('bob','',20774,0,690000000);
INSERT INTO spent_totals VALUES('bob','b-chat',-1,6,980196224);
INSERT INTO spent_totals VALUES('bob','b-router',-1,0,690000000);
CREATE TABLE storage_totals(
  owner_id TEXT NOT NULL PRIMARY KEY,
  bytes INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO storage_totals VALUES('ann',43776);
INSERT INTO storage_totals VALUES('bob',9632);
CREATE TABLE purges(
  number INTEGER PRIMARY KEY,
  run_id INTEGER,
  thread_id INTEGER,
  CONSTRAINT chk_purge_one CHECK ((run_id IS NULL) <> (thread_id IS NULL))
);
CREATE TABLE profiles(
  user_id TEXT NOT NULL PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE,
  username TEXT NOT NULL,
  bio TEXT NOT NULL,
  settings TEXT CONSTRAINT chk_profile_settings CHECK (settings IS NULL OR
    CASE WHEN json_valid(settings) THEN json_type(settings) = 'object' ELSE 0 END),
  country VARCHAR(2) CONSTRAINT chk_profile_country CHECK (length(country) <= 2),
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO profiles VALUES('ann',replace('Ann é é 👩‍💻 ‮abc‬ ⁦x⁩       ﻿ ￿ 􏿿   "\/ \r	 你好','\r',char(13)),'Likes tea.','{"version":2,"preferences":{"interface_language":"en-GB","ai_language":"de-CH-1996","timezone":"Europe/Zurich","country":"CH"},"privacy":{},"notification":{},"safety":{}}','CH',1794915397920);
CREATE TABLE tickets(
  hash TEXT NOT NULL PRIMARY KEY,
  owner_id TEXT NOT NULL,
  kind TEXT NOT NULL CONSTRAINT chk_ticket_kind CHECK (kind IN ('sse','websocket')),
  run_id INTEGER,
  created_at INTEGER NOT NULL,
  good_until INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  CONSTRAINT chk_ticket_run CHECK ((kind = 'sse') = (run_id IS NOT NULL))
) WITHOUT ROWID;
INSERT INTO tickets VALUES('d9f5ea270b9ed7b97c170671ebc48ac2941147b2573a6b6ecfa5884828db0378','ann','sse',5,1794915400696,4000000000000,4000000000000);
INSERT INTO tickets VALUES('f013bd55e21005719f3c84f6b68d180bf20dd1df06d3d172778c72ae5ad98e05','ann','sse',13,1794915400695,4000000000000,4000000000000);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('agent_chat_sessions',11);
INSERT INTO sqlite_sequence VALUES('runs',16);
CREATE INDEX idx_sessions_owner_updated ON agent_chat_sessions(owner_id, updated_at, id);
CREATE TRIGGER trg_session_billing_frozen
BEFORE UPDATE OF billing_currency, billing_country_snapshot ON agent_chat_sessions
WHEN NEW.billing_currency IS NOT OLD.billing_currency
  OR NEW.billing_country_snapshot IS NOT OLD.billing_country_snapshot
BEGIN
  SELECT RAISE(ABORT, 'the currency and country of a thread are frozen');
END;
CREATE UNIQUE INDEX uq_runs_thread_active ON runs(thread_id)
  WHERE status IN ('pending','running','awaiting_approval');
CREATE UNIQUE INDEX uq_runs_thread_queue ON runs(thread_id, queue_no) WHERE status = 'queued';
CREATE INDEX idx_runs_thread ON runs(thread_id);
CREATE INDEX idx_runs_log_kept ON runs(ended_at) WHERE ended_at IS NOT NULL AND log_expired = 0;
CREATE INDEX idx_runs_owner_active ON runs(owner_id) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX uq_log_run_first ON log(run_id, first_n);
CREATE TRIGGER trg_log_ended BEFORE INSERT ON log
WHEN (SELECT ended_at FROM runs WHERE id = NEW.run_id) IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'the log of an ended run takes no more rows');
END;
CREATE UNIQUE INDEX uq_messages_session_seq ON agent_chat_messages(session_id, seq);
CREATE UNIQUE INDEX uq_messages_session_message ON agent_chat_messages(session_id, message_id);
CREATE INDEX idx_messages_session_seq_display ON agent_chat_messages(session_id, seq) WHERE seq > 0;
CREATE INDEX idx_messages_session_seq_audit ON agent_chat_messages(session_id, seq) WHERE seq < 0;
CREATE INDEX idx_messages_run ON agent_chat_messages(run_id);
CREATE INDEX idx_calls_run ON model_calls(run_id);
CREATE INDEX idx_calls_thread ON model_calls(owner_id, thread_ref);
CREATE INDEX idx_calls_owner_started ON model_calls(owner_id, started_at, cost);
CREATE TRIGGER trg_call_currency_match BEFORE INSERT ON model_calls
WHEN NEW.currency IS NOT (SELECT s.billing_currency FROM runs r JOIN agent_chat_sessions s ON s.id = r.thread_id
                          WHERE r.id = NEW.run_id)
BEGIN
  SELECT RAISE(ABORT, 'a call must carry the currency of its thread');
END;
CREATE TRIGGER trg_call_run_kept BEFORE UPDATE OF run_id ON model_calls
WHEN NEW.run_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'a call stays with its run');
END;
CREATE TRIGGER trg_call_booked_once BEFORE UPDATE OF cost, cost_source, message_id ON model_calls
WHEN OLD.message_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'a call is booked once');
END;
CREATE TRIGGER trg_spent_when_opened AFTER INSERT ON model_calls WHEN NEW.cost <> 0
BEGIN
  INSERT INTO spent_totals(owner_id, thread_ref, day, cost_high, cost_low)
  VALUES (NEW.owner_id, '', -1, NEW.cost >> 32, NEW.cost & 4294967295),
         (NEW.owner_id, '', NEW.started_at / 86400000, NEW.cost >> 32, NEW.cost & 4294967295),
         (NEW.owner_id, NEW.thread_ref, -1, NEW.cost >> 32, NEW.cost & 4294967295)
  ON CONFLICT (owner_id, thread_ref, day) DO UPDATE
  SET cost_high = cost_high + excluded.cost_high, cost_low = cost_low + excluded.cost_low;
  UPDATE runs SET spent_high = spent_high + (NEW.cost >> 32), spent_low = spent_low + (NEW.cost & 4294967295)
  WHERE id = NEW.run_id;
END;
CREATE TRIGGER trg_spent_when_changed AFTER UPDATE OF cost ON model_calls WHEN NEW.cost <> OLD.cost
BEGIN
  INSERT INTO spent_totals(owner_id, thread_ref, day, cost_high, cost_low)
  VALUES (NEW.owner_id, '', -1, (NEW.cost >> 32) - (OLD.cost >> 32),
          (NEW.cost & 4294967295) - (OLD.cost & 4294967295)),
         (NEW.owner_id, '', NEW.started_at / 86400000, (NEW.cost >> 32) - (OLD.cost >> 32),
          (NEW.cost & 4294967295) - (OLD.cost & 4294967295)),
         (NEW.owner_id, NEW.thread_ref, -1, (NEW.cost >> 32) - (OLD.cost >> 32),
          (NEW.cost & 4294967295) - (OLD.cost & 4294967295))
  ON CONFLICT (owner_id, thread_ref, day) DO UPDATE
  SET cost_high = cost_high + excluded.cost_high, cost_low = cost_low + excluded.cost_low;
  UPDATE runs SET spent_high = spent_high + (NEW.cost >> 32) - (OLD.cost >> 32),
                  spent_low = spent_low + (NEW.cost & 4294967295) - (OLD.cost & 4294967295)
  WHERE id = NEW.run_id;
END;
CREATE TRIGGER trg_usage_when_ended AFTER UPDATE OF status ON model_calls
WHEN OLD.status = 'open' AND NEW.status <> 'open'
BEGIN
  INSERT INTO usage_totals
  VALUES (NEW.owner_id, '', NEW.started_at / 86400000, NEW.model, 1, 1 - NEW.usage_complete, NEW.input_tokens,
          NEW.output_tokens, NEW.cached_tokens, NEW.reasoning_tokens, NEW.cost >> 32, NEW.cost & 4294967295),
         (NEW.owner_id, NEW.thread_ref, NEW.started_at / 86400000, NEW.model, 1, 1 - NEW.usage_complete,
          NEW.input_tokens, NEW.output_tokens, NEW.cached_tokens, NEW.reasoning_tokens, NEW.cost >> 32,
          NEW.cost & 4294967295)
  ON CONFLICT (owner_id, thread_ref, day, model) DO UPDATE
  SET calls = calls + 1, incomplete_calls = incomplete_calls + excluded.incomplete_calls,
      input_tokens = input_tokens + min(excluded.input_tokens, 9223372036854775807 - input_tokens),
      output_tokens = output_tokens + min(excluded.output_tokens, 9223372036854775807 - output_tokens),
      cached_tokens = cached_tokens + min(excluded.cached_tokens, 9223372036854775807 - cached_tokens),
      reasoning_tokens = reasoning_tokens + min(excluded.reasoning_tokens, 9223372036854775807 - reasoning_tokens),
      cost_high = cost_high + excluded.cost_high, cost_low = cost_low + excluded.cost_low;
END;
CREATE TRIGGER trg_usage_when_booked AFTER UPDATE OF cost ON model_calls
WHEN OLD.status <> 'open' AND NEW.cost <> OLD.cost
BEGIN
  UPDATE usage_totals
  SET cost_high = cost_high + (NEW.cost >> 32) - (OLD.cost >> 32),
      cost_low = cost_low + (NEW.cost & 4294967295) - (OLD.cost & 4294967295)
  WHERE owner_id = NEW.owner_id AND thread_ref IN ('', NEW.thread_ref) AND day = NEW.started_at / 86400000
    AND model = NEW.model;
END;
CREATE TRIGGER trg_stored_when_ended AFTER UPDATE OF ended_at ON runs
WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
BEGIN
  INSERT INTO storage_totals(owner_id, bytes) VALUES (NEW.owner_id, NEW.log_bytes + NEW.kept_bytes)
  ON CONFLICT (owner_id) DO UPDATE SET bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER trg_stored_when_deleted AFTER DELETE ON runs WHEN OLD.ended_at IS NOT NULL
BEGIN
  UPDATE storage_totals SET bytes = bytes - OLD.log_bytes - OLD.kept_bytes WHERE owner_id = OLD.owner_id;
END;
CREATE TRIGGER trg_stored_when_disowned AFTER UPDATE OF owner_id ON runs WHEN OLD.ended_at IS NOT NULL
BEGIN
  UPDATE storage_totals SET bytes = bytes - OLD.log_bytes - OLD.kept_bytes WHERE owner_id = OLD.owner_id;
END;
CREATE TRIGGER trg_purge_when_expired AFTER UPDATE OF log_expired ON runs
WHEN NEW.log_expired = 1 AND OLD.log_expired = 0
BEGIN
  INSERT INTO purges(run_id) VALUES (NEW.id);
END;
CREATE TRIGGER trg_message_currency_match BEFORE INSERT ON agent_chat_messages
WHEN NEW.currency IS NOT (SELECT billing_currency FROM agent_chat_sessions WHERE id = NEW.session_id)
BEGIN
  SELECT RAISE(ABORT, 'message currency does not match session currency CNY');
END;
CREATE TRIGGER trg_message_currency_match_update BEFORE UPDATE ON agent_chat_messages
WHEN NEW.currency IS NOT (SELECT billing_currency FROM agent_chat_sessions WHERE id = NEW.session_id)
BEGIN
  SELECT RAISE(ABORT, 'message currency does not match session currency CNY');
END;
CREATE INDEX idx_tickets_good_until ON tickets(good_until);
CREATE TRIGGER trg_call_opening_frozen
BEFORE UPDATE OF id, owner_id, thread_ref, run_ref, epoch, stage, attempt, provider, model, started_at,
  input_estimate, cost_estimate, reserve, currency ON model_calls
BEGIN
  SELECT RAISE(ABORT, 'what a call was opened with is frozen');
END;
CREATE TRIGGER trg_call_ends_once
BEFORE UPDATE OF status, ended_at, error_code, latency_ms, first_token_ms, input_tokens, output_tokens,
  total_tokens, cached_tokens, cache_hit_tokens, cache_miss_tokens, cache_write_tokens, reasoning_tokens,
  usage_complete, direct_cost, direct_observed, catalog_cost, price_list, price ON model_calls
WHEN OLD.status <> 'open'
BEGIN
  SELECT RAISE(ABORT, 'a call ends once');
END;
COMMIT;
