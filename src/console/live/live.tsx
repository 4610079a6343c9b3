// The page /live.

import { effect } from '@preact/signals'
import { render } from 'preact'
import { refreshVisitor, visitor } from '../session.dom.ts'
import { Header } from '../ui/frame.tsx'
import { BookPanel, DepthPanel, TradePanel } from './book-panel.tsx'
import { ChartPanel } from './chart-panel.tsx'
import { coin, start } from './live-page.dom.ts'
import { MarketList } from './market-list.tsx'
import { ActivityPanel, ReplayBar, StatusBar } from './status-bar.tsx'
import * as strings from './strings.ts'

function Live() {
  const who = visitor.value
  const isSignedIn = who !== null && who !== 'unknown'
  return (
    <>
      <Header home="/live" current="/live" links={['/live', '/console', '/docs']}>
        {isSignedIn ? (
          <a href="/console" title={who.role === 'owner' ? strings.pagePaidByHint : ''}>
            {who.role === 'owner' ? strings.pagePaidBy(who.account) : who.name}
          </a>
        ) : (
          <a href="/console">{strings.pageSignIn}</a>
        )}
      </Header>
      <main id="main" class="live">
        <h1>
          {coin.value ?? strings.pageTitle} <small>{coin.value ? strings.pageSubtitle : ''}</small>
        </h1>
        <StatusBar />
        <MarketList />
        <ChartPanel />
        <BookPanel />
        <TradePanel />
        <DepthPanel />
        <ReplayBar />
        <ActivityPanel />
        <p class="notices">
          Charts: TradingView Lightweight Charts™, © 2026 TradingView, Inc.{' '}
          <a href="/notices.txt">{strings.pageNotices}</a>
        </p>
      </main>
    </>
  )
}

effect(() => {
  document.title = `${coin.value ?? strings.pageTitle} · Weir`
})
render(<Live />, document.getElementById('app') ?? document.body)
void refreshVisitor()
start()
