// A part of the console that is loaded when it is first needed: whoever signs in is an owner or an operator, and needs no
// part that is the other's.

import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'

interface LaterProps<Props extends object> {
  readonly load: () => Promise<ComponentType<Props>>
  readonly props: Props
}

export function Later<Props extends object>({ load, props }: LaterProps<Props>) {
  const loaded = useSignal<{ readonly Part: ComponentType<Props> } | 'failed' | null>(null)
  useEffect(() => {
    load().then(
      (Part) => {
        loaded.value = { Part }
      },
      () => {
        loaded.value = 'failed'
      },
    )
  }, [load])
  const found = loaded.value
  if (found === null) return <main id="main" aria-busy="true" />
  if (found !== 'failed') return <found.Part {...props} />
  return (
    <main id="main">
      <p class="note trouble" role="alert">
        A part of this page could not be loaded: the gateway may have been renewed meanwhile.{' '}
        <button type="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </p>
    </main>
  )
}
