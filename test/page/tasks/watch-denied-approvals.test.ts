import { afterAll, beforeAll, it } from 'vitest'
import { openPage } from '../../support/browser.js'
import { type PageHost, serveStory } from '../../support/page-host.js'
import { auditor } from '../auditor.js'
import { matching, rowsOf } from '../shown.js'

/* See each denied approval when it happens. */

const DENIED = 'audit:steps:approve:denied'

let host: PageHost
beforeAll(async () => {
  host = await serveStory()
})
afterAll(() => host.close())

it('watches denied approvals', async () => {
  const page = await openPage(`${host.page}?range=24h`, { user: 'ann' })
  const ann = auditor(page)
  await rowsOf(page).first().waitFor()
  await ann.click(page.getByRole('button', { name: /^All \d+ types$/ }))
  await ann.type('denied', page.getByRole('textbox', { name: /^Find in \d+ types$/ }))
  await ann.click(page.getByRole('checkbox', { name: new RegExp(`^${DENIED}`) }))
  const before = await matching(host.audit, `filter[type_eq]=${DENIED}`)
  await ann.sees(before)
  await page.getByRole('button', { name: 'Live', exact: true }).waitFor()

  // Nothing more has to be done when it happens.
  const step = { name: 'Deploy to production' }
  await host.audit.record('audit:steps:approve', step, { username: 'ann' })
  const denied = await host.audit.record(DENIED, step, { username: 'bob' })
  await ann.sees([denied!.id, ...before])
})
