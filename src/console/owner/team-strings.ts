// Text of the team page, of pages that a role cannot use, and of the account switcher.

export const roles = { owner: 'Owner', developer: 'Developer', billing: 'Billing' } as const
/** In the order of the choice. */
export const roleTexts = {
  developer: 'API keys, pipelines, data, logs, usage and webhooks',
  billing: 'Usage, orders, invoices and billing details',
  owner: 'Everything, members and service keys included',
} as const
export const dash = '–'
export const removedMember = 'a former member'
export const keyName = (prefix: string) => `Key ${prefix}…`
export const actions = 'Actions'

export const membersTitle = 'Members'
export const membersTable = 'Members of the account'
export const membersEmail = 'E-mail'
export const membersYou = 'You'
export const membersRole = 'Role'
export const membersJoined = 'Joined'
export const membersSeen = 'Last seen'
export const membersNever = 'Never'
export const membersEmpty = 'No members yet. Invite people by e-mail; each gets a role and sessions of their own.'
export const membersOwn = (role: string) =>
  `Your role is ${role}. Owners of the account invite members and change roles.`
export const membersKey = 'Members are managed by owners, or with an unrestricted service key.'
export const membersNoMail =
  'This gateway sends no e-mail, so members cannot be invited. Its operator can turn on sign-up by e-mail.'

export const invite = 'Invite member'
export const inviteTitle = 'Invite a member'
export const inviteText = 'The invitation is a link that works once, for seven days.'
export const inviteSubmit = 'Send invitation'
export const invited = {
  mail: (email: string) => `Invitation sent to ${email}.`,
  log: (email: string) =>
    `${email} is invited. This gateway sends no e-mail; the link is in its log, in the last line that contains “sign_up_link”.`,
} as const

export const changeRole = 'Change role'
export const changeRoleOf = (email: string) => `Change role of ${email}`
export const changeRoleText = 'The new role applies from the next request on.'
export const changeRoleSubmit = 'Save'
export const remove = 'Remove'
export const removeOf = (email: string) => `Remove ${email}`
export const roleChanged = (email: string, role: string) => `The role of ${email} is now ${role}.`
export const removeSubmit = 'Remove this member'
export const removeText =
  ' is signed out everywhere. Keys that this member created or knows keep working: revoke those that must not.'
export const removed = (email: string) => `${email} is no longer a member.`

export const pendingTitle = 'Pending invitations'
export const pendingTable = 'Pending invitations'
export const pendingSent = 'Sent'
export const pendingExpires = 'Expires'
export const pendingExpired = 'Expired'
export const pendingAgain = 'Send again'
export const pendingAgainTo = (email: string) => `Send again to ${email}`
export const pendingRevoke = 'Revoke'
export const pendingRevokeOf = (email: string) => `Revoke invitation of ${email}`
export const pendingRevoked = (email: string) => `The invitation of ${email} no longer works.`

export const sessionsTitle = 'Sessions'
export const sessionsTexts = {
  account: 'Everyone who is signed in to the console of this account.',
  own: 'Where you are signed in to the console.',
} as const
export const sessionsEnds =
  'An ended session is rejected at once, and its open pages return to the sign-in page within 5 seconds. Streams that it opened last up to an hour.'
export const sessionsTable = 'Console sessions'
export const sessionsWho = 'Signed in as'
export const sessionsBrowser = 'Browser'
export const sessionsUnknown = 'Unknown'
export const sessionsPlace = 'Location'
export const sessionsStarted = 'Signed in'
export const sessionsSeen = 'Last seen'
export const sessionsThis = 'This session'
export const sessionsEnd = 'End'
export const sessionsEndOf = (who: string, browser: string) => `End session of ${who}, ${browser}`
export const sessionsEndOwn = 'End my other sessions'
export const sessionsEndAll = 'End all other sessions'
export const sessionsEndAllText = 'Everyone else is signed out of the console of this account. Keys keep working.'
export const sessionsEnded = (count: number) =>
  count === 1 ? '1 session ended.' : `${count.toLocaleString('en')} sessions ended.`

export const serviceKeysTitle = 'Service keys'
export const serviceKeysText =
  'Programs manage this account with service keys. The key “console sign-up” is the one with which members act.'
export const serviceKeysLink = 'Create or revoke keys'
export const serviceKeysTable = 'Active service keys'
export const serviceKeysEmpty = 'No active service keys.'
export const serviceKeysPipelines = 'Pipelines'
export const serviceKeysScopes = { own: 'Only its own', all: 'All' } as const

export const activityTitle = 'Team activity'
export const activityTable = 'Changes of members and sessions'
export const activityTime = 'Time'
export const activityBy = 'By'
export const activityWhat = 'Change'
export const activityEmpty = 'No changes yet.'
export const activityWords = {
  invite: (target: string, role: string) => `Invited ${target} as ${role}`,
  invite_again: (target: string) => `Sent the invitation of ${target} again`,
  revoke_invitation: (target: string) => `Revoked the invitation of ${target}`,
  join: () => 'Joined the account',
  change_role: (target: string, role: string) => `Changed the role of ${target} to ${role}`,
  remove: (target: string) => `Removed ${target}`,
  end_session: (target: string) => `Ended a session of ${target}`,
  end_sessions: (_: string, count: string) => (count === '1' ? 'Ended 1 session' : `Ended ${count} sessions`),
} as const

export const denied = (page: string, needed: string, role: string) =>
  `${page} needs the role ${needed} or Owner. Your role is ${role}. Ask an owner of the account.`

export const switchAccount = 'Switch account'
