// On a narrow screen the page shows one group of panels at a time.

import { signal } from '@preact/signals'
import { TABS, TABS_LABEL } from './strings.ts'

type Tab = keyof typeof TABS

export const tab = signal<Tab>('chart')

export function showTab(name: Tab): void {
  tab.value = name
}

export function Tabs() {
  return (
    <nav class="tabs" aria-label={TABS_LABEL}>
      {(Object.entries(TABS) as [Tab, string][]).map(([name, title]) => (
        <button key={name} type="button" aria-pressed={tab.value === name} onClick={() => showTab(name)}>
          {title}
        </button>
      ))}
    </nav>
  )
}
