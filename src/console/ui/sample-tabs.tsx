// Code in several languages, one at a time, to copy. The arrow keys move between the tabs.

import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { CopyButton } from './parts.tsx'

interface SampleTabsProps {
  readonly label: string
  /** By name of the tab; the first is shown first. */
  readonly samples: Readonly<Record<string, string>>
}

export function SampleTabs({ label, samples }: SampleTabsProps) {
  const names = Object.keys(samples)
  const chosen = useSignal(names[0] ?? '')
  const id = useId()
  const text = samples[chosen.value] ?? ''
  const idOf = (name: string) => `${id}-${names.indexOf(name)}`
  const move = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (by === undefined) return
    event.preventDefault()
    const next = names.at((names.indexOf(chosen.value) + by) % names.length) ?? ''
    chosen.value = next
    document.getElementById(idOf(next))?.focus()
  }
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {names.map((name) => (
          <button
            key={name}
            id={idOf(name)}
            type="button"
            role="tab"
            aria-selected={name === chosen.value}
            aria-controls={`${id}-panel`}
            tabIndex={name === chosen.value ? 0 : -1}
            onClick={() => (chosen.value = name)}
          >
            {name}
          </button>
        ))}
      </div>
      <div class="sample" role="tabpanel" id={`${id}-panel`} aria-labelledby={idOf(chosen.value)}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: lets keyboard users scroll a long line. */}
        <pre tabIndex={0}>
          <code>{text}</code>
        </pre>
        <CopyButton key={chosen.value} text={text} />
      </div>
    </>
  )
}
