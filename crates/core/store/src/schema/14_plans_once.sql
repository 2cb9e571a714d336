-- Step 14: a plan is kept once, by its hash; what the optimizer estimated, and why a statement has no plan.

ALTER TABLE plans RENAME TO trial_plans;

CREATE TABLE plan_texts (
    hash  TEXT PRIMARY KEY,
    text  TEXT NOT NULL              -- as the engine printed it, without what the optimizer estimated
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO plan_texts SELECT hash, text FROM trial_plans;

ALTER TABLE trial_plans DROP COLUMN text;
ALTER TABLE trial_plans ADD COLUMN estimated_rows REAL;
ALTER TABLE trial_plans ADD COLUMN estimated_cost REAL;
ALTER TABLE trial_plans ADD COLUMN reason TEXT;

-- What is read and written as one row.
CREATE VIEW plans AS
    SELECT trial, position, statement, hash, ifnull((SELECT text FROM plan_texts WHERE hash = own.hash), '') AS text,
           analysis, estimated_rows, estimated_cost, reason
    FROM trial_plans AS own;
CREATE TRIGGER plans_insert INSTEAD OF INSERT ON plans BEGIN
    INSERT OR IGNORE INTO plan_texts SELECT new.hash, new.text WHERE new.reason IS NULL;
    INSERT INTO trial_plans VALUES
        (new.trial, new.position, new.statement, new.hash, new.analysis, new.estimated_rows, new.estimated_cost, new.reason);
END;
