-- `country` is the country in the settings. A new thread keeps a copy of it (USE-7).
CREATE TABLE profiles(
  user_id text PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE,
  username text NOT NULL,
  bio text NOT NULL,
  settings jsonb CONSTRAINT chk_profile_settings CHECK (jsonb_typeof(settings) = 'object'),
  country varchar(2),
  updated_at bigint NOT NULL
);
