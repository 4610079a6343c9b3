// Prices that a click or Enter copies. Of the prices of a panel, one is in the tab order; arrow keys reach the others.

import { signal } from '@preact/signals'
import { COPY_HINT } from './strings.ts'

const SHOWN_MS = 1_500

/** The price that was copied just now. */
export const copied = signal<string | null>(null)
let hide: ReturnType<typeof setTimeout> | undefined

interface CopyPriceProps {
  /** As it is copied: without separators. */
  readonly price: string
  readonly text: string
  readonly isFirst: boolean
}

export function CopyPrice({ price, text, isFirst }: CopyPriceProps) {
  return (
    <button
      type="button"
      class="copy"
      title={COPY_HINT}
      value={price}
      tabIndex={isFirst ? 0 : -1}
      onClick={copy}
      onKeyDown={moveFocus}
    >
      {text}
    </button>
  )
}

async function copy({ currentTarget: { value } }: { readonly currentTarget: HTMLButtonElement }): Promise<void> {
  // Pages on insecure origins have no clipboard; the price can still be selected.
  if (!navigator.clipboard) return
  await navigator.clipboard.writeText(value).then(
    () => {
      copied.value = value
      clearTimeout(hide)
      hide = setTimeout(() => {
        copied.value = null
      }, SHOWN_MS)
    },
    () => {},
  )
}

const MOVES: Readonly<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1 }

function moveFocus(event: KeyboardEvent): void {
  const button = event.currentTarget as HTMLElement
  const step = MOVES[event.key]
  if (step === undefined) return
  const all = [...(button.closest('.panel')?.querySelectorAll<HTMLElement>('.copy') ?? [])]
  const next = all[all.indexOf(button) + step]
  if (!next) return
  // Otherwise, the page would scroll, too.
  event.preventDefault()
  next.focus()
}
