// The live Worker and the SQL Worker in one, for tests of their objects: SQL runs in this Worker itself.

export * from '../src/live.ts'
export { default, SqlRunner } from '../src/sql.ts'
