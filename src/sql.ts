// Worker 4: runs the SQL of pipelines. A service binding runs on the caller's thread, so each request is passed to a
// Durable Object in an isolate of its own.

import { sqlRunnerOf } from './core/objects.client.ts'
import { constantTimeEqual } from './core/secret.ts'
import { readVariables } from './core/variables.ts'
import { readCaller, SQL_TOKEN_HEADER, SqlSettings } from './pipelines/sql/sql-api.ts'

export { SqlRunner } from './pipelines/sql/sql-runner.do.ts'

export default {
  async fetch(request, env) {
    const { SQL_RUNNERS: runners, SQL_TOKEN: token } = readVariables(SqlSettings, env)
    if (token !== '' && !constantTimeEqual(request.headers.get(SQL_TOKEN_HEADER) ?? '', token))
      return new Response(null, { status: 403 })
    const caller = readCaller(request.headers)
    // A HEAD request is a health check.
    if (!caller.ok) return new Response(null, { status: request.method === 'HEAD' ? 204 : 400 })
    return sqlRunnerOf(env, caller.value.account, runners).fetch(request)
  },
} satisfies ExportedHandler<Cloudflare.Env>
