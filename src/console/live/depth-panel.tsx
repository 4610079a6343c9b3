// What the whole book holds up to each price, around the middle. It is drawn a few times a second: all levels are summed.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { shownLevels } from './book-panel.tsx'
import { type DepthChart, depthChart } from './depth-chart.ts'
import { compact, priceText } from './formats.ts'
import { Panel, Pick, unseen } from './panel.tsx'

const SIZE = { width: 600, height: 140 }
const EVERY_MS = 500
const SHARES = [0.005, 0.02, 0.1] as const
const share = signal<number>(SHARES[1])
const chart = signal<DepthChart | null>(null)

export function DepthPanel() {
  useEffect(() => {
    const draw = () => {
      if (document.visibilityState === 'hidden') return
      const levels = shownLevels()
      chart.value = levels && depthChart(levels[0], levels[1], { ...SIZE, share: share.value })
    }
    draw()
    const timer = setInterval(draw, EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  const shown = chart.value
  return (
    <Panel
      name="depth"
      title="Depth"
      head={
        <Pick
          label={unseen('Distance from the middle')}
          value={share.value}
          of={SHARES}
          text={(one) => `±${one * 100} %`}
          onPick={(one) => (share.value = one)}
        />
      }
    >
      <svg
        class="outline"
        role="img"
        aria-label={
          shown
            ? `Depth from ${priceText(shown.low)} to ${priceText(shown.high)}, at most ${compact(shown.most)}`
            : 'No depth'
        }
        viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
        preserveAspectRatio="none"
      >
        {shown && (
          <>
            <path class="bid" d={shown.bids} />
            <path class="ask" d={shown.asks} />
          </>
        )}
      </svg>
      <p class="foot number">
        <span>{shown ? priceText(shown.low) : ''}</span>
        <span>{shown ? `up to ${compact(shown.most)}` : ''}</span>
        <span>{shown ? priceText(shown.high) : ''}</span>
      </p>
    </Panel>
  )
}
