// GET /status as an operation of the OpenAPI document: every field with what it says, what is well, and what to do.

import { StatusShape } from '../feed/status-shape.ts'
import { schemaOf } from './json-schema.ts'

export function statusOperation(shared: Map<string, unknown>): Readonly<Record<string, unknown>> {
  return {
    operationId: 'status',
    tags: ['operator'],
    summary: 'How the feed and the sources stand',
    description:
      'Without a key, free. At most a second old; a monitor watches `state`, which is `live` where all is well, and shows `advice`.',
    security: [],
    responses: {
      200: {
        description: 'The log, its feeders and readers, and the sources',
        content: { 'application/json': { schema: schemaOf(StatusShape, shared) } },
      },
    },
  }
}
