// A part of a page whose code is loaded when it is first shown.

import { useSignal } from '@preact/signals'
import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { REQUEST } from '../request-strings.ts'
import { Button } from './frame.tsx'
import { LAZY } from './strings.ts'

interface LazyProps<Props extends object> {
  /** The same function on every render. */
  readonly load: () => Promise<ComponentType<Props>>
  readonly props: Props
  /** Shown until the code has arrived. */
  readonly fallback?: ComponentChildren
}

export function Lazy<Props extends object>({ load, props, fallback }: LazyProps<Props>) {
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
  const state = loaded.value
  if (state === null) return fallback ?? null
  if (state !== 'failed') return <state.Part {...props} />
  return (
    <p class="note trouble" role="alert">
      {navigator.onLine ? LAZY.failed : REQUEST.offline} <Button text={LAZY.reload} onClick={() => location.reload()} />
    </p>
  )
}
