// The one page of whoever owns keys.

import { useLoaded } from '../loaded.dom.ts'
import { Shell } from '../shell.tsx'
import { TroubleNote } from '../ui/trouble.tsx'
import type { Visitor } from '../visit.dom.ts'

interface OwnKey {
  readonly account: string
  readonly plan: string
  readonly credits_remaining: number
}

export function OwnerPage({ who }: { who: Extract<Visitor, { role: 'owner' }> }) {
  const key = useLoaded<OwnKey>(() => '/platform/key/')
  return (
    <Shell who={who} pages={[['account', 'Account']]} here="account">
      <h1>{who.account}</h1>
      <TroubleNote trouble={key.trouble.value} again={key.reload} />
      {key.value.value && (
        <dl class="figures">
          <div>
            <dt>Credits left</dt>
            <dd>{key.value.value.credits_remaining}</dd>
          </div>
          <div>
            <dt>Plan</dt>
            <dd>{key.value.value.plan}</dd>
          </div>
        </dl>
      )}
    </Shell>
  )
}
