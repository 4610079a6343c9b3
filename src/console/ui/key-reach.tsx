// What stops with a key, and which destinations it has set: shown before the key is revoked.

import { useSignal } from '@preact/signals'
import { useQuery } from '../queries.dom.ts'
import { type RequestError, request } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { Button } from './frame.tsx'
import { ErrorNote } from './parts.tsx'

/** `adopts`: whoever is signed in can take a pipeline over. */
export function KeyReachNotes({ path, adopts = false }: { path: string; adopts?: boolean }) {
  const { value: reach, error, reload } = useQuery<Responses['keyReach']>(() => path)
  const refused = useSignal<RequestError | null>(null)
  const adopt = (id: string) => async () => {
    const answer = await request('POST', `/platform/pipeline-api/${id}/adopt/`)
    refused.value = answer.ok ? null : answer.error
    reload()
  }
  const { pipelines = [], keys = [], webhook = null } = reach.value ?? {}
  const stopped = pipelines.filter(({ stops }) => stops)
  const others = pipelines.filter(({ stops, destination_set: hasSet }) => hasSet && !stops)
  return (
    <>
      <ErrorNote trouble={refused.value ?? error.value} />
      {reach.value && stopped.length === 0 && <p>No running pipeline is charged to this key.</p>}
      {stopped.length > 0 && (
        <>
          <p>These pipelines are charged to this key, and are paused within 30 s:</p>
          <ul>
            {stopped.map(({ id, name, destination }) => (
              <li key={id}>
                {name} <small>to {destination}</small>{' '}
                {adopts && (
                  <Button text="adopt with your key" class="plain" aria-label={`Adopt ${name}`} onClick={adopt(id)} />
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      {(others.length > 0 || webhook !== null) && (
        <>
          <p>This key set where these send, and they go on. Check the addresses if the key has leaked:</p>
          <ul>
            {others.map(({ id, name, destination }) => (
              <li key={id}>
                {name} <small>to {destination}</small>
              </li>
            ))}
            {webhook !== null && (
              <li>
                the account’s webhook <small>to {webhook}</small>
              </li>
            )}
          </ul>
        </>
      )}
      {keys.length > 0 && (
        <>
          <p>These keys were made with this one, and go on. Revoke those that you do not know if it has leaked:</p>
          <ul>
            {keys.map(({ hash, prefix, label }) => (
              <li key={hash}>
                <code>{prefix}</code> <small>{label}</small>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}
