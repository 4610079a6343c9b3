// First steps with a new key: a test call from this page, and samples with the key filled in.

import { useSignal } from '@preact/signals'
import { Button } from './frame.tsx'
import { samplesOf } from './key-samples.ts'
import { SampleTabs } from './sample-tabs.tsx'
import { SECRET } from './strings.ts'

export function KeyCheck({ apiKey }: { readonly apiKey: string }) {
  return (
    <>
      <TestCall apiKey={apiKey} />
      <SampleTabs label={SECRET.samples} samples={samplesOf(apiKey, location.origin)} />
    </>
  )
}

function TestCall({ apiKey }: { readonly apiKey: string }) {
  const outcome = useSignal<{ readonly text: string; readonly isGood: boolean } | null>(null)
  const isBusy = useSignal(false)
  const send = async () => {
    isBusy.value = true
    outcome.value = await testCall(apiKey)
    isBusy.value = false
  }
  return (
    <p class="check">
      <Button text={SECRET.check} disabled={isBusy.value} onClick={send} />
      <span role="status" class={outcome.value?.isGood ? 'good' : 'bad'}>
        {outcome.value?.text}
      </span>
    </p>
  )
}

/** Calls the gateway with this key instead of the session: market data, or the key itself for a service key. */
async function testCall(apiKey: string): Promise<{ readonly text: string; readonly isGood: boolean }> {
  const authorization = `Bearer ${apiKey}`
  const isService = apiKey.startsWith('cqs_')
  const begunMs = performance.now()
  try {
    const response = isService
      ? await fetch('/platform/key/', { credentials: 'omit', headers: { authorization } })
      : await fetch('/info', {
          method: 'POST',
          credentials: 'omit',
          headers: { authorization, 'content-type': 'application/json' },
          body: '{"type":"allMids"}',
        })
    const json = await response.json()
    const ms = Math.round(performance.now() - begunMs)
    if (response.ok)
      return { text: SECRET.checked(response.status, ms, response.headers.get('x-credits-cost') ?? '0'), isGood: true }
    return { text: SECRET.refused(response.status, ms, String(json.msg ?? json.error_message ?? '')), isGood: false }
  } catch {
    return { text: SECRET.unreachable, isGood: false }
  }
}
