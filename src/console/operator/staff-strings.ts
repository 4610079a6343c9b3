// Text of the staff page and the audit log.

export const auditTitle = 'Audit log'
export const auditText =
  'Every action by staff except reading, including failed attempts. Entries are written before the action and never change.'
export const auditActor = 'Actor'
export const auditRole = 'Role'
export const auditAction = 'Action'
export const auditAllActions = 'All actions'
export const auditTarget = 'Target'
export const auditResult = 'Result'
export const auditUnknown = 'Unknown'
export const auditNothing = '–'
export const auditDone = 'Succeeded'
export const auditFailed = (status: number) => `Failed (${status})`
/** By operation: what it does, and the field of its body that is shown with it. */
export const auditActions = {
  createKey: ['Create key', 'kind'],
  changeKey: ['Change key'],
  rotateKey: ['Rotate key'],
  revokeKey: ['Revoke key'],
  setWebhook: ['Set webhook'],
  testWebhook: ['Test webhook'],
  clearWebhook: ['Remove webhook'],
  payOrder: ['Mark order as paid'],
  voidOrder: ['Void order'],
  refundOrder: ['Record refund'],
  ensureAccount: ['Create account', 'plan'],
  changePlan: ['Move to plan', 'plan'],
  grantCredits: ['Grant credits', 'credits'],
  setBilling: ['Set billing details'],
  turnOffAutoTopUp: ['Turn off auto top-up'],
  removeCard: ['Remove saved card'],
  setPlan: ['Save plan'],
  applyPlan: ['Apply plan to its accounts'],
  removePlan: ['Remove plan'],
  createStaff: ['Create staff token', 'role'],
  revokeStaff: ['Revoke staff token'],
  createIncident: ['Post incident', 'title'],
  updateIncident: ['Update incident', 'state'],
  removeIncident: ['Remove incident'],
  testAlert: ['Send a test alert'],
  reconcileAccounts: ['Compare accounts with their meters'],
  importAccount: ['Import account', 'account'],
  importPipeline: ['Import pipeline', 'id'],
  setStatusAsOperator: ['Start or pause a pipeline', 'status'],
  resetFeed: ['Reset the feed'],
  backfill: ['Import blocks'],
  uploadCheckpoint: ['Upload checkpoint'],
  recordRepairAttempt: ['Record a repair attempt', 'source'],
  applyRetention: ['Remove expired archive files'],
} as const satisfies Readonly<Record<string, readonly [text: string, field?: string]>>
export const auditInput = 'Input'
export const auditFrom = 'From (UTC)'
export const auditTo = 'To (UTC)'
export const auditEmpty = 'No matching entries.'

export const staffTitle = 'Staff'
export const staffText =
  'The holder of ADMIN_TOKEN is “operator” and may do everything. Everyone else has a personal token and a role.'
export const staffName = 'Name'
export const staffRole = 'Role'
export const staffRoles = {
  support: 'Support: read only',
  billing: 'Billing: read, top up, change account plans',
  owner: 'Owner: everything',
} as const
export const staffCreated = 'Token created'
export const staffActive = 'Active'
export const staffRevoked = (time: string) => `Revoked ${time}`
export const staffRevoke = 'Revoke'
export const staffRevokeLabel = (name: string) => `Revoke ${name}`
export const staffRevokeSubmit = 'Revoke this token'
export const staffRevokeText = (name: string) =>
  `${name} is signed out everywhere immediately. Their audit entries stay.`
export const staffCreate = 'Create token'
export const staffCreateSubmit = 'Create this token'
export const staffSecret = (name: string) => `The token of ${name}`
export const staffSecretText = 'The token is shown only once. Every holder signs in with this name and role.'
export const staffEmpty = 'No personal tokens yet. From a terminal:'
