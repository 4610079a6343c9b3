// Shows the effects of revoking a key: pipelines that pause, destinations and keys that stay active.

import { useSignal } from '@preact/signals'
import { useQuery } from '../queries.dom.ts'
import { type RequestError, request } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { Button } from './frame.tsx'
import { ErrorNote } from './parts.tsx'
import { KEY_REACH } from './strings.ts'

/** `canAdopt`: offers to charge a pipeline to the key of the visitor. */
export function KeyReachNotes({ path, canAdopt = false }: { path: string; canAdopt?: boolean }) {
  const { value: reach, error, reload } = useQuery<Responses['keyReach']>(() => path)
  const adoptError = useSignal<RequestError | null>(null)
  const adopt = (id: string) => async () => {
    const result = await request('POST', `/platform/pipeline-api/${id}/adopt/`)
    adoptError.value = result.ok ? null : result.error
    reload()
  }
  const { pipelines = [], keys = [], webhook = null } = reach.value ?? {}
  const stopped = pipelines.filter(({ stops }) => stops)
  const others = pipelines.filter(({ stops, destination_set: hasSet }) => hasSet && !stops)
  return (
    <>
      <ErrorNote error={adoptError.value ?? error.value} />
      {reach.value && stopped.length === 0 && <p>{KEY_REACH.noPipelines}</p>}
      {stopped.length > 0 && (
        <>
          <p>{KEY_REACH.stopped}</p>
          <ul>
            {stopped.map(({ id, name, destination }) => (
              <li key={id}>
                {name} <small>{KEY_REACH.to(destination)}</small>{' '}
                {canAdopt && (
                  <Button
                    text={KEY_REACH.adopt}
                    class="plain"
                    aria-label={KEY_REACH.adoptLabel(name)}
                    onClick={adopt(id)}
                  />
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      {(others.length > 0 || webhook !== null) && (
        <>
          <p>{KEY_REACH.destinations}</p>
          <ul>
            {others.map(({ id, name, destination }) => (
              <li key={id}>
                {name} <small>{KEY_REACH.to(destination)}</small>
              </li>
            ))}
            {webhook !== null && (
              <li>
                {KEY_REACH.webhook} <small>{KEY_REACH.to(webhook)}</small>
              </li>
            )}
          </ul>
        </>
      )}
      {keys.length > 0 && (
        <>
          <p>{KEY_REACH.keys}</p>
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
