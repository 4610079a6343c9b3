// Every operation of the operator's API, for the published document.

import type { Operation } from '../edge/operation.ts'
import { CHANGE_PLAN, ENSURE_ACCOUNT, GRANT_CREDITS, SHOW_ACCOUNT } from './account-operations.ts'
import { CHANGE_KEY, CREATE_KEY, LIST_KEYS, REVOKE_KEY, ROTATE_KEY } from './key-operations.ts'
import { APPLY_PLAN, LIST_PLANS, REMOVE_PLAN, SET_PLAN } from './plan-operations.ts'

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
]
