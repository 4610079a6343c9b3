// Console sessions, and how to end them.

import { useSignal } from '@preact/signals'
import type { Query } from '../queries.dom.ts'
import { type RequestError, requestChange } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { refreshVisitor } from '../session.dom.ts'
import { countryName } from '../ui/country-name.ts'
import { ConfirmButton } from '../ui/dialog.tsx'
import { timeText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import { ErrorNote, QueryView } from '../ui/parts.tsx'
import { type Column, Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import * as strings from './team-strings.ts'
import { partyText, type Session } from './team-view.ts'

const PATH = '/platform/sessions/'

const browserText = ({ browser }: Session) => browser || strings.sessionsUnknown
const hasPlace = ({ country, network }: Session) => country !== null || network !== null
const placeText = ({ country, network }: Session) =>
  country === null ? (network ?? strings.sessionsUnknown) : countryName(country)

const PLACE: Column<Session> = { name: strings.sessionsPlace, text: placeText }
const COLUMNS: readonly Column<Session>[] = [
  {
    name: strings.sessionsWho,
    text: partyText,
    render: (session) => <span class="party">{partyText(session)}</span>,
  },
  { name: strings.sessionsBrowser, text: browserText },
  PLACE,
  {
    name: strings.sessionsStarted,
    text: ({ started }) => timeText(started),
    render: ({ started }) => <Time atMs={started} />,
  },
  {
    name: strings.sessionsSeen,
    text: ({ last_seen: seen }) => timeText(seen),
    render: ({ last_seen: seen }) => <Time atMs={seen} />,
  },
]

const PLACELESS_COLUMNS = COLUMNS.filter((column) => column !== PLACE)

interface SessionsSectionProps {
  readonly sessions: Query<Responses['ownSessions']>
  readonly account: string
  /** Reloads the lists, and tells what was done. */
  readonly onDone: (text: string) => void
}

export function SessionsSection({ sessions, account, onDone }: SessionsSectionProps) {
  const error = useSignal<RequestError | null>(null)
  const end = async ({ id }: Session) => {
    error.value = await requestChange('DELETE', `${PATH}${id}`, undefined, () => onDone(strings.sessionsEnded(1)))
    // Another tab may have signed in since, so the session may be this one.
    void refreshVisitor()
  }
  const endOthers = (of: 'own' | 'account') =>
    requestChange<Responses['endOtherSessions']>('DELETE', `${PATH}?of=${of}`, undefined, ({ ended }) =>
      onDone(strings.sessionsEnded(ended)),
    )
  return (
    <QueryView query={sessions}>
      {({ sessions: rows, of }) => (
        <section>
          <h2>{strings.sessionsTitle}</h2>
          <p>
            {strings.sessionsTexts[of]} {strings.sessionsEnds}
          </p>
          <ErrorNote error={error.value} />
          <Table
            caption={strings.sessionsTable}
            columns={[...(rows.some(hasPlace) ? COLUMNS : PLACELESS_COLUMNS), endColumn(end)]}
            rows={rows}
            rowKey={({ id }) => id}
            empty=""
          />
          <p class="beside">
            <Button text={strings.sessionsEndOwn} onClick={async () => (error.value = await endOthers('own'))} />
            {of === 'account' && (
              <ConfirmButton
                kind="danger"
                buttonLabel={strings.sessionsEndAll}
                action={strings.sessionsEndAll}
                name={account}
                onConfirm={() => endOthers('account')}
              >
                <p>{strings.sessionsEndAllText}</p>
              </ConfirmButton>
            )}
          </p>
        </section>
      )}
    </QueryView>
  )
}

const endColumn = (onEnd: (session: Session) => void): Column<Session> => ({
  name: strings.actions,
  render: (session) =>
    session.is_caller ? (
      <b>{strings.sessionsThis}</b>
    ) : (
      <Button
        text={strings.sessionsEnd}
        class="plain"
        aria-label={strings.sessionsEndOf(partyText(session), browserText(session))}
        onClick={() => onEnd(session)}
      />
    ),
})
