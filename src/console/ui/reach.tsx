// What stops with a key, and which destinations it has set: shown before the key is revoked.

import { useSignal } from '@preact/signals'
import type { Answers } from '../answers.ts'
import { ask, type Trouble } from '../ask.dom.ts'
import { useLoaded } from '../loaded.dom.ts'
import { Button } from './frame.tsx'
import { TroubleNote } from './parts.tsx'

/** `adopts`: whoever is signed in can take a pipeline over. */
export function KeyReach({ path, adopts = false }: { path: string; adopts?: boolean }) {
  const { value: reach, trouble, reload } = useLoaded<Answers['keyReach']>(() => path)
  const refused = useSignal<Trouble | null>(null)
  const adopt = (id: string) => async () => {
    const answer = await ask('POST', `/platform/pipeline-api/${id}/adopt/`)
    refused.value = answer.ok ? null : answer.error
    reload()
  }
  const { pipelines = [], keys = [], webhook = null } = reach.value ?? {}
  const stopped = pipelines.filter(({ stops }) => stops)
  const others = pipelines.filter(({ stops, destination_set: hasSet }) => hasSet && !stops)
  return (
    <>
      <TroubleNote trouble={refused.value ?? trouble.value} />
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
