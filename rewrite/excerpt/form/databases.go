package form

import (
	"epitome/pattern"
	"epitome/rewrite/excerpt/glance"
)

// databaseRows are what programs write that bring databases and warehouses up to date.
var databaseRows = []Row{
	{Tool: "psql", Kind: Failure, Late: true, first: "psql:", end: " commands ignored until end of transaction block",
		sample: "psql:migrate.sql:44: ERROR:  current transaction is aborted, commands ignored until end of transaction block"},
	{Tool: "psql", Kind: Failure, Late: true, first: "ERROR:  current transaction is aborted, ",
		sample: "ERROR:  current transaction is aborted, commands ignored until end of transaction block"},
	{Tool: "psql", Kind: Failure, Whole: true, first: "psql:", like: pattern.Of(`^psql:\S+:\d+: (ERROR|FATAL|PANIC): `),
		sample: "psql:migrate.sql:41: ERROR:  column \"amount\" of relation \"refunds\" already exists"},
	{Tool: "psql", Kind: Failure, Whole: true, first: "psql: error: ", Says: FailsIfLast,
		sample: "psql: error: connection to server at \"db\" (10.2.0.5), port 5432 failed: FATAL:  no such user"},
	{Tool: "SQLite", Kind: Failure, Whole: true, first: "Parse error near line ", sample: "Parse error near line 3: no such column: amout"},
	{Tool: "SQLite", Kind: Failure, Whole: true, first: "Runtime error near line ",
		sample: "Runtime error near line 2: FOREIGN KEY constraint failed (19)"},
	{Tool: "InnoDB", Kind: Failure, first: "------- TRX HAS BEEN WAITING ",
		sample: "------- TRX HAS BEEN WAITING 2471 SEC FOR THIS LOCK TO BE GRANTED:"},
	{Tool: "InnoDB", Kind: Failure, first: "LATEST DETECTED DEADLOCK", sample: "LATEST DETECTED DEADLOCK"},
	{Tool: "InnoDB", Kind: Reason, first: "*** WE ROLL BACK TRANSACTION ", sample: "*** WE ROLL BACK TRANSACTION (2)"},
	{Tool: "flyway", Kind: Reason, first: "Message    : ", sample: "Message    : ERROR: column \"cents\" of relation \"refunds\" already exists"},
	{Tool: "flyway", Kind: Plain, first: "Error Code : ", sample: "Error Code : 0"},
	{Tool: "flyway", Kind: State, first: "Successfully applied ", like: pattern.Of(`^Successfully applied \d+ migrations? to schema `), Says: Succeeds,
		sample: "Successfully applied 1 migration to schema \"public\", now at version v40 (execution time 00:00.042s)"},
	{Tool: "flyway", Kind: State, first: "Schema ", end: " is up to date. No migration necessary.", Says: Succeeds,
		sample: `Schema "public" is up to date. No migration necessary.`},
	{Tool: "liquibase", Kind: Failure, Whole: true, first: "Reason: liquibase.exception.",
		sample: "     Reason: liquibase.exception.DatabaseException: ERROR: column \"cents\" already exists [Failed SQL: (0) ALTER]"},
	{Tool: "liquibase", Kind: Failure, first: "Unexpected error running Liquibase: ", Says: Fails,
		sample: "Unexpected error running Liquibase: Migration failed for changeset db/changelog.xml::40::me:"},
	{Tool: "liquibase", Kind: State, first: "Liquibase command '", has: "' was executed successfully.", Says: Succeeds,
		sample: "Liquibase command 'update' was executed successfully."},
	{Tool: "Prisma", Kind: State, first: "All migrations have been successfully applied.", Says: Succeeds,
		sample: "All migrations have been successfully applied."},
	{Tool: "Prisma", Kind: State, first: "No pending migrations to apply.", Says: Succeeds, sample: "No pending migrations to apply."},
	{Tool: "Great Expectations", Kind: State, first: "Validation ", like: pattern.Of(`^Validation failed!$`), Says: Fails,
		sample: "Validation failed!"},
	{Tool: "Great Expectations", Kind: State, first: "Validation ", like: pattern.Of(`^Validation succeeded!$`), Says: Succeeds,
		sample: "Validation succeeded!"},
	{Tool: "Great Expectations", Kind: Failure, first: "- ", has: " ✖ Failed ", sample: "- refunds.warning             ✖ Failed   11 of 12 (91.67 %)"},
	{Tool: "dbt", Kind: Heading, first: "Encountered an error:", sample: "09:31:14  Encountered an error:"},
	{Tool: "Airflow", Kind: Failure, Late: true, needs: glance.Fail, has: " | failed ", like: pattern.Of(`\| \S+ +\| failed +\| \d{4}-\d\d-\d\dT`),
		sample: "etl    | 2026-11-20T00:00:00+00:00 | load    | failed          | 2026-11-20T00:00:14.113+00:00    | -"},
	{Tool: "YARN", Kind: Reason, first: "Diagnostics : ",
		sample: "	Diagnostics : Application application_1 failed 2 times due to AM Container exited with  exitCode: -104"},
}
