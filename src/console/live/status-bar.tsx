// The status of the data: connection, order book, block, age, epoch and checksums; the activity panel; and the replay
// controls. Invariant: screen readers announce changes of state, but not numbers.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ConnectionStatus } from '../../client/api.ts'
import { Button, bindInput } from '../ui/frame.tsx'
import { ageText, clockText, dateTimeInputText, fixedText, parseDateTimeInput, timestampText } from './formats.ts'
import { glance } from './glance.dom.ts'
import {
  activity,
  bookVersion,
  clock,
  coin,
  connection,
  connectionState,
  isBusy,
  liveBook,
  replay,
  startReplay,
  stopReplay,
} from './live-page.dom.ts'
import { SPEEDS } from './market-replay.ts'
import { clockWarning } from './page-time.ts'
import { Panel, PanelSelect } from './panel.tsx'
import { pageNow } from './runtime.dom.ts'
import * as strings from './strings.ts'
import { BOOK_STATES, CONNECTION, REPLAY_STATES } from './strings.ts'

const AGE_MS = 250
/** Blocks arrive several times a second; older data counts as stale. */
const STALE_MS = 5_000
const now = signal(Number.NaN)

export function StatusBar() {
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = clock.now(pageNow())
    }, AGE_MS)
    return () => clearInterval(timer)
  }, [])
  void bookVersion.value
  const past = replay.value
  const live = liveBook()
  const blockMs = past ? past.timeMs : Math.max(live?.blockMs ?? 0, glance.value?.timeMs ?? 0)
  const height = past ? (past.book?.height ?? -1) : (live?.height ?? -1)
  const state = past ? REPLAY_STATES[past.state] : live ? BOOK_STATES[live.state] : strings.statusNoMarket
  const error = clockWarning(now.value, Date.now())
  return (
    <section class="status" aria-label={strings.statusLabel}>
      <dl>
        <Fact
          name={strings.statusConnection}
          value={connectionText(connectionState.value)}
          kind={connectionState.value.state === 'open' ? 'good' : 'bad'}
        />
        <Fact name={strings.statusBook} value={state} kind={past || live?.state === 'in step' ? 'good' : 'bad'} />
        <Fact name={strings.statusHeight} value={height < 0 ? '–' : fixedText(height, 0)} />
        <Fact
          name={past ? strings.statusTime : strings.statusAge}
          value={past ? timestampText(blockMs) : blockMs > 0 ? ageText(now.value - blockMs) : '–'}
          {...(!past && blockMs > 0 && now.value - blockMs > STALE_MS ? { kind: 'bad' as const } : {})}
        />
        <Fact name={strings.statusEpoch} value={live?.book?.epoch.slice(0, 8) || '–'} />
        <Fact name={strings.statusChecks} value={live ? fixedText(live.book?.checks ?? 0, 0) : '–'} />
      </dl>
      <details>
        <summary>{strings.statusMore}</summary>
        <Button
          text={strings.statusDisconnect}
          disabled={connectionState.value.state !== 'open'}
          onClick={() => connection.interrupt(strings.statusDisconnected)}
        />
      </details>
      {connectionState.value.state === 'fatal' && (
        <Button text={strings.statusRetry} onClick={() => connection.start()} />
      )}
      <p class="unseen" role="status">
        {coin.value ?? ''} {state}, {connectionText(connectionState.value)}
      </p>
      {live?.state === 'gone' && (
        <p class="note trouble" role="alert">
          {strings.statusUnknownMarket(JSON.stringify(coin.value))}
        </p>
      )}
      {live?.state === 'refused' && (
        <p class="note trouble" role="alert">
          {strings.statusRejected(JSON.stringify(coin.value), live.why)}
        </p>
      )}
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
      {connectionState.value.state === 'fatal' && (
        <p class="note trouble" role="alert">
          {connectionState.value.reason} <a href="/console">{strings.pageSignIn}</a>
        </p>
      )}
      {error && <p class="note">{error}</p>}
    </section>
  )
}

function Fact({ name, value, kind }: { name: string; value: string; kind?: 'good' | 'bad' }) {
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

export function ActivityPanel() {
  return (
    <Panel name="happened" title={strings.activityTitle}>
      <ol>
        {activity.value.map(({ id, atMs, kind, text, times }) => (
          <li key={id} class={kind}>
            <time>{clockText(atMs)}</time> {text}
            {times > 1 && strings.activityTimes(times)}
          </li>
        ))}
      </ol>
    </Panel>
  )
}

const REPLAY_DEFAULT_MS = 10 * 60_000
const replayFrom = signal('')
const replaySpeed = signal(10)
const replayError = signal<string | null>(null)

/** The chosen time in Unix ms; null with an error shown. */
function replayStart(): number | null {
  const ms = replayFrom.value === '' ? clock.now(pageNow()) - REPLAY_DEFAULT_MS : parseDateTimeInput(replayFrom.value)
  const now = clock.now(pageNow())
  replayError.value = !Number.isFinite(ms) ? strings.replayNoTime : ms >= now ? strings.replayFuture : null
  return replayError.value === null ? Math.floor(ms) : null
}

export function ReplayBar() {
  void bookVersion.value
  const past = replay.value
  const play = (event: Event) => {
    event.preventDefault()
    const ms = replayStart()
    if (ms === null) return
    if (replayFrom.value === '') replayFrom.value = dateTimeInputText(ms)
    if (past && past.state !== 'over') past.seek(ms)
    else startReplay(ms, replaySpeed.value)
  }
  const isRunning = past !== null && past.state !== 'over'
  return (
    <form class="replay" onSubmit={play} aria-label={strings.replayLabel}>
      <label>
        {strings.replayFrom}
        <input type="datetime-local" step="1" {...bindInput(replayFrom)} />
      </label>
      <PanelSelect
        label={strings.replaySpeed}
        value={replaySpeed.value}
        options={SPEEDS}
        text={strings.replaySpeedText}
        isDisabled={isRunning}
        onSelect={(one) => (replaySpeed.value = one)}
      />
      <button type="submit" disabled={coin.value === null}>
        {isRunning ? strings.replaySeek : strings.replayPlay}
      </button>
      {isRunning && (
        <Button
          text={past.state === 'paused' ? strings.replayResume : strings.replayPause}
          onClick={() => (past.state === 'paused' ? past.resume() : past.pause())}
        />
      )}
      {past && <Button text={strings.replayLive} class="main" onClick={stopReplay} />}
      {past?.state === 'waiting' && (
        <p class="note" role="status">
          {strings.replayWaiting}
        </p>
      )}
      {replayError.value && (
        <p class="note trouble" role="alert">
          {replayError.value}
        </p>
      )}
    </form>
  )
}
