// The live Worker and the SQL Worker in one, for tests of their objects: what runs SQL is this Worker itself.

export * from '../src/live.ts'
export { default, SqlRunner } from '../src/sql.ts'
