// The state of the data: one chip, whose popover has the details, a menu for tests, and notes about what is wrong.
// Invariants: screen readers announce changes of state, but not numbers; a note moves nothing on the page.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ConnectionStatus } from '../../client/api.ts'
import { Button } from '../ui/frame.tsx'
import { copied } from './copy-price.tsx'
import { ageText, clockText, fixedText, timestampText } from './formats.ts'
import { glance } from './glance.dom.ts'
import { healthOf } from './health.ts'
import {
  activity,
  bookVersion,
  clock,
  coin,
  connection,
  connectionState,
  isBusy,
  liveBook,
  logActivity,
  replay,
} from './live-page.dom.ts'
import { clockWarning } from './page-time.ts'
import { Panel } from './panel.tsx'
import { pageNow } from './runtime.dom.ts'
import * as strings from './strings.ts'
import { BOOK_STATES, CONNECTION, REPLAY_STATES } from './strings.ts'

const AGE_MS = 250
/** Blocks arrive several times a second; older data counts as stale. */
const STALE_MS = 5_000
const now = signal(Number.NaN)

export function HealthChip() {
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = clock.now(pageNow())
    }, AGE_MS)
    return () => clearInterval(timer)
  }, [])
  void bookVersion.value
  const past = replay.value
  const { text, kind, meaning } = healthOf(connectionState.value.state, liveBook()?.state ?? null, past?.state ?? null)
  return (
    <>
      <button type="button" class={`health ${kind}`} popovertarget="health" title={strings.healthHint}>
        {past?.state === 'playing' ? (
          <>
            <span class="roomy">{strings.replayPill} </span>
            {clockText(past.timeMs)}
            <span class="roomy"> {strings.replayPillSpeed(past.speed)}</span>
          </>
        ) : (
          text
        )}
      </button>
      <section id="health" class="popover" popover aria-label={strings.statusLabel}>
        <p>{meaning}</p>
        <StatusFacts />
        {connectionState.value.state === 'fatal' && (
          <Button text={strings.statusRetry} onClick={() => connection.start()} />
        )}
      </section>
      <p class="unseen" role="status">
        {coin.value ?? ''} {text}, {connectionText(connectionState.value)}
      </p>
    </>
  )
}

function StatusFacts() {
  const past = replay.value
  const live = liveBook()
  const blockMs = past ? past.timeMs : Math.max(live?.blockMs ?? 0, glance.value?.timeMs ?? 0)
  const height = past ? (past.book?.height ?? -1) : (live?.height ?? -1)
  const age = now.value - blockMs
  const warning = clockWarning(now.value, Date.now())
  useEffect(() => {
    if (warning) logActivity('wait', warning)
  }, [warning])
  return (
    <dl>
      <Fact name={strings.statusConnection} value={connectionText(connectionState.value)} />
      <Fact
        name={strings.statusBook}
        value={past ? REPLAY_STATES[past.state] : live ? BOOK_STATES[live.state] : strings.statusNoMarket}
      />
      <Fact name={strings.statusHeight} value={height < 0 ? '–' : fixedText(height, 0)} />
      {past ? (
        <Fact name={strings.statusTime} value={timestampText(blockMs)} />
      ) : (
        <Fact
          name={strings.statusAge}
          value={blockMs > 0 ? ageText(age) : '–'}
          {...(blockMs > 0 && age > STALE_MS ? { kind: 'bad' } : {})}
        />
      )}
      <Fact name={strings.statusEpoch} value={live?.book?.epoch.slice(0, 8) || '–'} />
      <Fact name={strings.statusChecks} value={live ? fixedText(live.book?.checks ?? 0, 0) : '–'} />
      {warning && <Fact name={strings.statusClockName} value={warning} kind="bad" />}
    </dl>
  )
}

function Fact({ name, value, kind }: { name: string; value: string; kind?: string }) {
  return (
    <div class={kind}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function connectionText(state: ConnectionStatus): string {
  switch (state.state) {
    case 'open':
      return CONNECTION.open
    case 'waiting':
      return CONNECTION.waiting(state.reason, ageText(state.retryMs))
    case 'fatal':
      return CONNECTION.fatal
    default:
      return CONNECTION[state.state]
  }
}

export function PageMenu() {
  const disconnect = () => {
    connection.interrupt(strings.statusDisconnected)
    document.getElementById('page-menu')?.hidePopover()
  }
  return (
    <>
      <button type="button" class="more" popovertarget="page-menu" aria-label={strings.menuLabel}>
        ⋯
      </button>
      <section id="page-menu" class="popover" popover aria-label={strings.menuLabel}>
        <Button
          text={strings.statusDisconnect}
          disabled={connectionState.value.state !== 'open'}
          onClick={disconnect}
        />
        <p class="soft">{strings.statusDisconnectHint}</p>
        <a href="/docs/channels/l2BookDiff2">{strings.menuDocs}</a>
      </section>
    </>
  )
}

/** Notes lie above the page. */
export function Notes() {
  void bookVersion.value
  const live = liveBook()
  const state = connectionState.value
  const name = JSON.stringify(coin.value)
  return (
    <div class="notes">
      {live?.state === 'gone' && <Trouble text={strings.statusUnknownMarket(name)} />}
      {live?.state === 'refused' && <Trouble text={strings.statusRejected(name, live.why)} />}
      {glance.value && (
        <p class="note">
          {isBusy.value ? (
            <>
              {strings.statusBusy}
              <a href="/console">{strings.pageSignIn}</a>
              {strings.statusBusySignIn}
            </>
          ) : (
            strings.statusReconnecting
          )}
        </p>
      )}
      {state.state === 'fatal' && (
        <p class="note trouble" role="alert">
          {state.reason} <a href="/console">{strings.pageSignIn}</a>
        </p>
      )}
      <p class="copied" role="status">
        {copied.value !== null && <span class="note">{strings.copied(copied.value)}</span>}
      </p>
    </div>
  )
}

function Trouble({ text }: { text: string }) {
  return (
    <p class="note trouble" role="alert">
      {text}
    </p>
  )
}

export function ActivityPanel() {
  return (
    <Panel name="happened" title={strings.activityTitle}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: lets keyboard users scroll the list. */}
      <section class="list" tabIndex={0} aria-label={strings.activityList}>
        <ol>
          {activity.value.map(({ atMs, kind, text, times }, at) => (
            <li key={at} class={kind}>
              <time>{clockText(atMs)}</time> {text}
              {times > 1 && strings.activityTimes(times)}
            </li>
          ))}
        </ol>
      </section>
    </Panel>
  )
}
