-- `country` is the country in the settings. A new thread keeps a copy of it (USE-7).
CREATE TABLE profiles(
  user_id TEXT NOT NULL PRIMARY KEY REFERENCES users(id) ON DELETE CASCADE,
  username TEXT NOT NULL,
  bio TEXT NOT NULL,
  settings TEXT CONSTRAINT chk_profile_settings CHECK (settings IS NULL OR
    CASE WHEN json_valid(settings) THEN json_type(settings) = 'object' ELSE 0 END),
  country VARCHAR(2) CONSTRAINT chk_profile_country CHECK (length(country) <= 2),
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;
