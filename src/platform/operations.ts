// Every operation of the operator's API, for the published document.

import * as z from 'zod'
import type { Operation } from '../edge/operation.ts'
import { CHANGE_PLAN, ENSURE_ACCOUNT, GRANT_CREDITS, SHOW_ACCOUNT } from './account-operations.ts'
import { CHANGE_KEY, CREATE_KEY, LIST_KEYS, REVOKE_KEY, ROTATE_KEY } from './key-operations.ts'
import { APPLY_PLAN, LIST_PLANS, REMOVE_PLAN, SET_PLAN } from './plan-operations.ts'
import { CLEAR_WEBHOOK, SET_WEBHOOK, SHOW_WEBHOOK, TEST_WEBHOOK } from './webhook-operations.ts'

/** Its route is the feed's own, which knows nothing of surfaces. */
const RESET_FEED: Operation = {
  id: 'resetFeed',
  method: 'post',
  path: '/admin/feed/reset',
  summary: 'Begin a new log, for a node that started over',
  description: 'Books and heights begin anew and clients bootstrap again; accounts and keys stay.',
  door: 'admin',
  answers: {
    200: { description: 'The log is empty', schema: z.object({ reset: z.literal(true) }), example: { reset: true } },
  },
  refusals: [],
}

export const ADMIN_OPERATIONS: readonly Operation[] = [
  LIST_PLANS,
  SET_PLAN,
  APPLY_PLAN,
  REMOVE_PLAN,
  ENSURE_ACCOUNT,
  SHOW_ACCOUNT,
  CHANGE_PLAN,
  GRANT_CREDITS,
  CREATE_KEY,
  LIST_KEYS,
  CHANGE_KEY,
  ROTATE_KEY,
  REVOKE_KEY,
  SET_WEBHOOK,
  SHOW_WEBHOOK,
  TEST_WEBHOOK,
  CLEAR_WEBHOOK,
  RESET_FEED,
]
