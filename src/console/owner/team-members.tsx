// Members and pending invitations, and the dialogs that change them.

import { useSignal } from '@preact/signals'
import type { Query } from '../queries.dom.ts'
import { type RequestError, requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { ConfirmButton, Dialog, Field } from '../ui/dialog.tsx'
import { timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { ErrorNote, QueryView } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import * as strings from './team-strings.ts'
import type { Member } from './team-view.ts'

type Members = Responses['listMembers']

const pathOf = ({ id }: Member) => `/platform/members/${id}`
const timeColumn = (name: string, of: (member: Member) => number | null, none: string): Column<Member> => ({
  name,
  text: (member) => timeOr(of(member), none),
  render: (member) => {
    const atMs = of(member)
    return atMs === null ? none : <Time atMs={atMs} />
  },
})
const timeOr = (atMs: number | null, none: string) => (atMs === null ? none : timeText(atMs))

const EMAIL: Column<Member> = {
  name: strings.membersEmail,
  text: ({ email }) => email,
  render: ({ email, is_caller: isYou }) => (
    <span class="party">
      {email} {isYou && <small class="soft">{strings.membersYou}</small>}
    </span>
  ),
}
const ROLE: Column<Member> = { name: strings.membersRole, text: ({ role }) => strings.roles[role] }

interface MembersSectionProps {
  readonly members: Query<Members>
  /** Reloads the lists, and tells what was done. */
  readonly onDone: (text: string) => void
}

export function MembersSection({ members, onDone }: MembersSectionProps) {
  const changing = useSignal<Member | 'invite' | null>(null)
  const error = useSignal<RequestError | null>(null)
  const close = () => {
    changing.value = null
  }
  const finish = (text: string) => {
    close()
    onDone(text)
  }
  const send = async (method: string, path: string, text: string) => {
    error.value = await requestChange(method, path, undefined, () => onDone(text))
  }
  return (
    <QueryView query={members}>
      {({ members: all, delivery }) => {
        const joined = all.filter(({ state }) => state === 'joined')
        const pending = all.filter(({ state }) => state !== 'joined')
        const told = strings.invited[delivery ?? 'mail']
        return (
          <section>
            <div class="title">
              <h2>{strings.membersTitle}</h2>
              {delivery && <Button text={strings.invite} class="main" onClick={() => (changing.value = 'invite')} />}
            </div>
            {delivery === null && <p class="soft">{strings.membersNoMail}</p>}
            <ErrorNote error={error.value} />
            <Table
              caption={strings.membersTable}
              columns={[...MEMBER_COLUMNS, memberActions((member) => (changing.value = member), onDone)]}
              rows={joined}
              rowKey={({ id }) => id}
              empty={strings.membersEmpty}
            />
            {pending.length > 0 && (
              <>
                <h3>{strings.pendingTitle}</h3>
                <Table
                  caption={strings.pendingTable}
                  columns={[
                    ...PENDING_COLUMNS,
                    pendingActions(
                      (member) => send('POST', `${pathOf(member)}/invite`, told(member.email)),
                      (member) => send('DELETE', pathOf(member), strings.pendingRevoked(member.email)),
                    ),
                  ]}
                  rows={pending}
                  rowKey={({ id }) => id}
                  empty=""
                />
              </>
            )}
            {changing.value === 'invite' && (
              <InviteDialog onDone={({ email }) => finish(told(email))} onClose={close} />
            )}
            {changing.value !== null && changing.value !== 'invite' && (
              <RoleDialog
                member={changing.value}
                onDone={({ email, role }) => finish(strings.roleChanged(email, strings.roles[role]))}
                onClose={close}
              />
            )}
          </section>
        )
      }}
    </QueryView>
  )
}

const MEMBER_COLUMNS: readonly Column<Member>[] = [
  EMAIL,
  ROLE,
  timeColumn(strings.membersJoined, ({ joined }) => joined, strings.dash),
  timeColumn(strings.membersSeen, ({ last_seen: seen }) => seen, strings.membersNever),
]

const memberActions = (onChange: (member: Member) => void, onDone: (text: string) => void): Column<Member> => ({
  name: strings.actions,
  render: (member) => (
    <>
      <Button
        text={strings.changeRole}
        class="plain"
        aria-label={strings.changeRoleOf(member.email)}
        onClick={() => onChange(member)}
      />
      <ConfirmButton
        buttonLabel={strings.remove}
        label={strings.removeOf(member.email)}
        action={strings.removeSubmit}
        name={member.email}
        onConfirm={() =>
          requestChange('DELETE', pathOf(member), undefined, () => onDone(strings.removed(member.email)))
        }
      >
        <p>
          <b class="party">{member.email}</b>
          {strings.removeText}
        </p>
      </ConfirmButton>
    </>
  ),
})

const isExpired = ({ state }: Member) => state === 'expired'

const PENDING_COLUMNS: readonly Column<Member>[] = [
  EMAIL,
  ROLE,
  timeColumn(strings.pendingSent, ({ invited }) => invited, strings.dash),
  timeColumn(
    strings.pendingExpires,
    (member) => (isExpired(member) ? null : member.invitation_ends),
    strings.pendingExpired,
  ),
]

const pendingActions = (onAgain: (member: Member) => void, onRevoke: (member: Member) => void): Column<Member> => ({
  name: strings.actions,
  render: (member) => (
    <>
      <Button
        text={strings.pendingAgain}
        class="plain"
        aria-label={strings.pendingAgainTo(member.email)}
        onClick={() => onAgain(member)}
      />
      <Button
        text={strings.pendingRevoke}
        class="plain"
        aria-label={strings.pendingRevokeOf(member.email)}
        onClick={() => onRevoke(member)}
      />
    </>
  ),
})

interface DialogProps {
  readonly onDone: (member: Member) => void
  readonly onClose: () => void
}

function InviteDialog({ onDone, onClose }: DialogProps) {
  const email = useSignal('')
  const role = useSignal<Member['role']>('developer')
  const send = () => requestChange('POST', '/platform/members/', { email: email.value, role: role.value }, onDone)
  return (
    <Dialog
      title={strings.inviteTitle}
      submitLabel={strings.inviteSubmit}
      isIncomplete={email.value.trim() === ''}
      onSend={send}
      onClose={onClose}
    >
      <p>{strings.inviteText}</p>
      <Field label={strings.membersEmail} value={email.value} onText={(text) => (email.value = text)} />
      <RoleChoice role={role} />
    </Dialog>
  )
}

function RoleDialog({ member, onDone, onClose }: DialogProps & { readonly member: Member }) {
  const role = useSignal<Member['role']>(member.role)
  return (
    <Dialog
      title={strings.changeRoleOf(member.email)}
      submitLabel={strings.changeRoleSubmit}
      onSend={() => requestChange('PATCH', pathOf(member), { role: role.value }, onDone)}
      onClose={onClose}
    >
      <p>{strings.changeRoleText}</p>
      <RoleChoice role={role} />
    </Dialog>
  )
}

const ROLES = ['developer', 'billing', 'owner'] as const

const RoleChoice = ({ role }: { readonly role: { value: Member['role'] } }) => (
  <fieldset class="roles">
    <legend>{strings.membersRole}</legend>
    {ROLES.map((each) => (
      <label class="inline" key={each}>
        <input type="radio" name="role" checked={role.value === each} onChange={() => (role.value = each)} />
        <span>
          {strings.roles[each]} <small class="soft">{strings.roleTexts[each]}</small>
        </span>
      </label>
    ))}
  </fieldset>
)
