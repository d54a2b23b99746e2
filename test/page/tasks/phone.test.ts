import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPage } from '../../support/browser.js'
import { type PageHost, serveStory } from '../../support/page-host.js'
import { auditor } from '../auditor.js'
import { matching, rowOf, rowsOf, WAIT } from '../shown.js'

let host: PageHost
beforeAll(async () => {
  host = await serveStory()
})
afterAll(() => host.close())

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

it('on a phone: finds what bob was not allowed, and reads the event', async () => {
  const page = await openPage(host.page, { user: 'ann', ...PHONE })
  await rowsOf(page).first().waitFor()
  const { click, sees } = auditor(page)
  const ids = await matching(host.audit, 'filter[username_eq]=bob')
  await click(page.getByRole('button', { name: /^Filters/ }).last())
  await click(page.getByRole('dialog').getByRole('checkbox', { name: /bob/ }))
  await click(page.getByRole('dialog').getByRole('button', { name: /^Show/ }))
  await sees(ids.slice(0, 3))
  await click(rowOf(page, ids[0]!))
  const panel = page.getByRole('complementary', { name: 'Event' })
  await expect.poll(() => panel.innerText(), WAIT).toContain(ids[0]!)
})

it('on a phone: a long press on a row offers its filters, and does not open the event', async () => {
  const page = await openPage(host.page, { user: 'ann', ...PHONE })
  // The chart moves the rows once it is drawn.
  await page.getByRole('heading', { level: 1, name: /events$/ }).waitFor()
  const box = (await rowsOf(page).nth(2).boundingBox())!
  const [x, y] = [120, box.y + box.height / 2]
  const touches = await page.context().newCDPSession(page)
  await touches.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] })
  const menu = page.getByRole('dialog', { name: 'This event' })
  await menu.waitFor()
  await touches.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
  const filter = menu.getByRole('button', { name: /^Filter: type is (?!not)/ })
  const type = (await filter.textContent())!.replace('Filter: type is ', '')
  await filter.click()
  const { sees } = auditor(page)
  await sees((await matching(host.audit, `filter[type_eq]=${type}`)).slice(0, 1))
  expect(new URL(page.url()).hash).toBe('')
})

it.each([
  [390, 844],
  [412, 915],
])(
  'on a phone of %d by %d, the list has at least three quarters of the height',
  async (width, height) => {
    const page = await openPage(host.page, { user: 'ann', ...PHONE, viewport: { width, height } })
    await rowsOf(page).first().waitFor()
    const room = (): Promise<number> =>
      page.evaluate(`(() => {
      const rows = document.querySelector('.rows').getBoundingClientRect()
      const bottom = document.querySelector('.mobile-toolbar')?.getBoundingClientRect().top ?? innerHeight
      return (Math.min(bottom, innerHeight) - Math.max(0, rows.top)) / innerHeight
    })()`)
    await expect.poll(room, WAIT).toBeGreaterThan(0.75)
    await page.getByRole('region', { name: 'Events over time' }).getByText('UTC').waitFor()
  },
)
