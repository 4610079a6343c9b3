// Operations that the roles of members allow. Invariant (test/http/platform/every-endpoint.test.ts): every operation of an account
// has a decision; an operation without one needs an owner.

import type { Identity } from '../../accounts/identity.ts'
import { type MemberRole, roleRefusal } from '../../accounts/members.ts'
import type { Failure } from '../../core/failure.ts'

const ALL: readonly MemberRole[] = ['developer', 'billing']
const DEVELOPER: readonly MemberRole[] = ['developer']
const BILLING: readonly MemberRole[] = ['billing']
const OWNER: readonly MemberRole[] = []

/** Roles that may call an operation, in addition to `owner`, by id of the operation. */
export const OPERATION_ROLES: Readonly<Record<string, readonly MemberRole[]>> = {
  usage: ALL,
  compatUsage: ALL,
  ownKeyUsage: ALL,
  ownKey: ALL,
  ownAccount: ALL,
  ownBalances: ALL,
  ownSessions: ALL,
  endOwnSession: ALL,
  endOtherSessions: ALL,
  ownLogHours: ALL,
  ownAlerts: ALL,
  createAlertRule: ALL,
  setAlertRule: ALL,
  removeAlertRule: ALL,
  testAlertRule: ALL,
  addAlertAddress: ALL,
  sendAlertConfirmation: ALL,
  removeAlertAddress: ALL,
  // Keys. Service keys need an owner (endpoints/keys.ts).
  ownKeys: DEVELOPER,
  createOwnKey: DEVELOPER,
  changeOwnKey: DEVELOPER,
  rotateOwnKey: DEVELOPER,
  revokeOwnKey: DEVELOPER,
  ownKeyReach: DEVELOPER,
  ownLogs: DEVELOPER,
  ownRefusals: DEVELOPER,
  ownStreams: DEVELOPER,
  makeStreamToken: DEVELOPER,
  ownWebhook: DEVELOPER,
  setOwnWebhook: DEVELOPER,
  testOwnWebhook: DEVELOPER,
  clearOwnWebhook: DEVELOPER,
  listPipelines: DEVELOPER,
  createPipeline: DEVELOPER,
  showPipeline: DEVELOPER,
  setPipelineStatus: DEVELOPER,
  changePipeline: DEVELOPER,
  removePipeline: DEVELOPER,
  adoptPipeline: DEVELOPER,
  pipelineStatus: DEVELOPER,
  pipelineLogs: DEVELOPER,
  pipelineMetrics: DEVELOPER,
  testPipeline: DEVELOPER,
  redeliverPipeline: DEVELOPER,
  pipelineOptions: DEVELOPER,
  previewPipeline: DEVELOPER,
  backfillPipeline: DEVELOPER,
  pipelineBackfill: DEVELOPER,
  cancelBackfill: DEVELOPER,
  balances: DEVELOPER,
  historyCoverage: DEVELOPER,
  historyGaps: DEVELOPER,
  historyCost: DEVELOPER,
  historyFiles: DEVELOPER,
  historySums: DEVELOPER,
  ownInvoices: BILLING,
  ownInvoice: BILLING,
  ownInvoiceCsv: BILLING,
  showCheckout: BILLING,
  checkout: BILLING,
  ownOrders: BILLING,
  ownBilling: BILLING,
  setOwnBilling: BILLING,
  orderInvoice: BILLING,
  ownAutoTopUp: BILLING,
  turnOnAutoTopUp: BILLING,
  turnOffOwnAutoTopUp: BILLING,
  saveCard: BILLING,
  removeOwnCard: BILLING,
  listMembers: OWNER,
  inviteMember: OWNER,
  inviteMemberAgain: OWNER,
  changeMember: OWNER,
  removeMember: OWNER,
  listTeamEvents: OWNER,
}

/** Failure if the caller is a member whose role does not allow the operation, else null. */
export function operationRefusal(operation: string, { session }: Pick<Identity, 'session'>): Failure | null {
  const roles = Object.hasOwn(OPERATION_ROLES, operation) ? OPERATION_ROLES[operation] : undefined
  return roleRefusal(session?.member, roles ?? OWNER)
}

/** Failure of a developer who names a service key, because it can do what the role cannot. Else null. */
export const serviceKeyRefusal = ({ session }: Pick<Identity, 'session'>, kind: Identity['kind']): Failure | null =>
  kind === 'service' ? roleRefusal(session?.member, OWNER, 'A service key') : null
