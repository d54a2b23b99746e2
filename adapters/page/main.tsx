import './styles/tokens.css'
import './styles/page.css'
import './styles/bar.css'
import './styles/over-time.css'
import './styles/facets.css'
import './styles/list.css'
import { render } from 'preact'
import { loadAccount } from './account.js'
import { followAddress } from './address.js'
import { App } from './app.js'
import { followRecent } from './bar/recent.js'
import { hostName } from './config.js'
import { followCounts } from './counts/counts.js'
import { followKeys } from './keys.js'
import { followEvents } from './list/following.js'
import { followScreen } from './list/layout.js'
import { followQuery } from './list/loading.js'
import { texts } from './texts.js'

document.title = [texts.common.page, hostName].filter(Boolean).join(' · ')
followAddress()
followKeys()
followRecent()
loadAccount()
followCounts()
followQuery()
followEvents()
followScreen()
render(<App />, document.querySelector('#app')!)
