// The order of the imports is part of the cascade: features override shared styles.
import './ui/tokens.css'
import './ui/base.css'
import './ui/controls.css'
import './app.css'
import './bar/bar.css'
import './over-time/over-time.css'
import './facets/facets.css'
import './list/list.css'
import './panel/panel.css'
import './subscriptions/subscriptions.css'
import './history/history.css'
import './compare/compare.css'
import './views/views.css'
import './builder/builder.css'
import './export/export.css'
import './ui/keys-sheet.css'
import './groups/groups.css'
import './columns/columns.css'
import './print/print.css'
import './resource/resource.css'
import './logs/logs.css'
import './ledger/ledger.css'
import './personal/personal.css'
import { effect } from '@preact/signals'
import { render } from 'preact'
import { loadAccount } from './data/account.js'
import { followAddress, search, whenReadable } from './data/address.js'
import { App } from './app.js'
import { hostName, logsPath, productName } from './data/config.js'
import { followCounts } from './data/counts.js'
import { followKeys } from './ui/keyboard.js'
import { followEvents } from './list/live-updates.js'
import { trackTimesOnScreen } from './list/layout.js'
import { followQuery } from './list/loading.js'
import { lazy } from './ui/lazy.js'
import { texts } from './ui/texts.js'

const Chooser = lazy(() => import('./logs/chooser.js'), 'Chooser')
const ResourcePanel = lazy(() => import('./resource/resource-panel.js'), 'ResourcePanel')

const start = async (): Promise<void> => {
  const root = document.querySelector('#app')!
  if (logsPath) return render(<Chooser />, root)
  loadAccount()
  if (/[?&]resource=/.test(location.search)) return render(<ResourcePanel />, root)
  await whenReadable(search.value, () => {
    followAddress()
    followKeys()
    followCounts()
    followQuery()
    followEvents()
    trackTimesOnScreen()
    effect(() => {
      if (/(?:^|&)q=|\[\*_/.test(search.value))
        void import('./list/marking.js').then((marking) => marking.startMarking())
    })
    render(<App />, root)
  })
}

document.title = [productName || texts.common.page, hostName].filter(Boolean).join(' · ')
void start()
