import { describe, expect, it } from 'vitest'
import { openPage } from '../support/browser.js'
import {
  checkViews,
  expectNoViolations,
  FIRST_ROWS,
  LIGHT,
  list,
  resize,
  SCHEMES,
  shareAccessible,
  show,
  VIEWS,
} from './accessible-views.js'
import { violationsOf } from './axe.js'
import { rowsOf } from './shown.js'

const host = shareAccessible()

checkViews(host, false)

it('passes axe for a user who may neither count nor export', async () => {
  const page = await openPage(host.page, { user: 'eve', tolerates: /403/ })
  await list(page)
  await page.getByText('You may not count events').waitFor()
  await expectNoViolations(page, FIRST_ROWS)
  for (const width of [1000, 390]) {
    await resize(page, width, 800)
    await expectNoViolations(page, FIRST_ROWS, LIGHT)
  }
})

it('would find text in pale grey', async () => {
  const page = await show(host, VIEWS['list']!)
  const colour = (value: string) =>
    page.evaluate(`document.querySelector('h1').style.color = '${value}'`)
  await colour('#bbb')
  await page.emulateMedia({ colorScheme: 'light' })
  for (const [, rules] of SCHEMES)
    expect((await violationsOf(page, rules)).join()).toContain('color-contrast: h1')
  await colour('')
})

const MOVING = 'document.getAnimations().filter(({ playState }) => playState === "running").length'

describe('motion', () => {
  it("respects the user's preference", async () => {
    const moving = await openPage(host.page, { user: 'ann', reducedMotion: 'no-preference' })
    await list(moving)
    await expect.poll(() => moving.evaluate(MOVING)).toBeGreaterThan(0)
    const still = await host.visit(host.page, { user: 'ann' })
    await list(still)
    expect(await still.evaluate(MOVING)).toBe(0)
    await rowsOf(still).nth(2).click()
    await still.getByRole('complementary', { name: 'Event' }).waitFor()
    expect(await still.evaluate(MOVING)).toBe(0)
  })
})
