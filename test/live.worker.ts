// The live, jobs and SQL Workers in one, for tests of their objects: SQL runs in this Worker itself.

export * from '../src/jobs.ts'
export * from '../src/live.ts'
export { default, SqlRunner } from '../src/sql.ts'
