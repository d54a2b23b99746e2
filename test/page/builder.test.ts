import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { openPage } from '../support/browser.js'
import { shareHost } from './shared-host.js'
import { stopFrames, WAIT } from './shown.js'

/* The filter builder. */

const host = shareHost()

const { open, shows } = host
const builder = (page: Page) => page.getByRole('dialog', { name: 'Filter builder' })
const fields = (page: Page, name: 'Attribute' | 'Predicate' | 'Value') =>
  builder(page).getByRole('combobox', { name })

/** Waits until a field of a row, by default the last, has the focus. */
const focusIs = (page: Page, name: 'Attribute' | 'Predicate' | 'Value', row = -1) => {
  const isFocused = async () => {
    const id = await page.locator(':focus').getAttribute('id')
    return id === (await fields(page, name).nth(row).getAttribute('id'))
  }
  return expect.poll(isFocused, WAIT).toBe(true)
}

async function openBuilder(page: Page): Promise<void> {
  await page.keyboard.press('b')
  await fields(page, 'Attribute').last().waitFor()
  await focusIs(page, 'Attribute')
}

/** Fills in the last row by keyboard. Its attribute field must have the focus. */
async function write(page: Page, attribute: string, predicate: string, value?: string) {
  await page.keyboard.type(attribute)
  await page.keyboard.press('Enter')
  await focusIs(page, 'Predicate')
  await page.keyboard.type(predicate)
  await page.keyboard.press('Enter')
  if (value === undefined) return
  await focusIs(page, 'Value')
  await page.keyboard.type(value)
  await page.keyboard.press('Enter')
}

/** Waits until the button shows the number of events that match the filter. */
async function expectPreview(page: Page, filter: string): Promise<void> {
  const { total } = await host.audit.count(filter)
  const events = total === 1 ? '1 event' : `${total.toLocaleString('en-US')} events`
  const button = builder(page).getByRole('button', { name: /^Show/ })
  await expect.poll(() => button.textContent(), WAIT).toBe(`Show ${events} Ctrl Enter`)
}

describe('rows', () => {
  it('are written by keys alone', async () => {
    const page = await open()
    await openBuilder(page)
    await write(page, 'username', 'not_null')
    await page.keyboard.press('Enter')
    await focusIs(page, 'Attribute', 1)
    await write(page, 'name', 'contains', 'nightly')
    const filter = 'filter[username_not_null]=1&filter[name_cont]=nightly'
    await expectPreview(page, filter)
    const words = 'Events whose user is set and whose name contains nightly.'
    await expect
      .poll(() => builder(page).getByRole('paragraph').first().textContent(), WAIT)
      .toBe(words)
    await shows(page, '')
    await page.keyboard.press('Control+Enter')
    await builder(page).waitFor({ state: 'detached' })
    await shows(page, filter)
  })

  it('get the attribute that was typed, although more attributes are loaded before Enter', async () => {
    const page = await openPage(`${host.page}?range=all`, { user: 'ann' })
    await shows(page, '')
    let load = (): void => {}
    const loading = new Promise<void>((resolve) => (load = resolve))
    await page.route(/\/counts\?.*attributes/, async (route) => {
      await loading
      await route.continue()
    })
    await openBuilder(page)
    await page.keyboard.type('name')
    const marked = builder(page).getByRole('option', { selected: true })
    await expect.poll(() => marked.textContent(), WAIT).toMatch(/^name/)
    load()
    await builder(page)
      .getByRole('option', { name: /^change_name/ })
      .waitFor()
    await page.keyboard.press('Enter')
    await focusIs(page, 'Predicate')
    await expect.poll(() => fields(page, 'Attribute').last().inputValue(), WAIT).toBe('name')
  })

  it('keep typed text on Tab; Escape closes field, then builder', async () => {
    const page = await open('filter[username_eq]=ann')
    await openBuilder(page)
    await page.keyboard.type('attempt')
    await page.keyboard.press('Tab')
    await focusIs(page, 'Predicate', 1)
    await page.keyboard.type('is at least')
    await page.keyboard.press('Tab')
    await focusIs(page, 'Value', 1)
    await page.keyboard.type('1')
    await page.keyboard.press('Tab')
    await expectPreview(page, 'filter[username_eq]=ann&filter[attempt_gteq]=1')
    await page.keyboard.press('Shift+Tab')
    await focusIs(page, 'Value', 1)
    await page.keyboard.type('2')
    await builder(page).getByRole('option', { name: '2' }).first().waitFor()
    await page.keyboard.press('Escape')
    await builder(page).getByRole('option').first().waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    await builder(page).waitFor({ state: 'detached' })
    await shows(page, 'filter[username_eq]=ann')
  })

  it('keep the focus off the page behind them', async () => {
    const page = await open('filter[username_eq]=ann')
    await openBuilder(page)
    await page.keyboard.press('Escape')
    // After the last control, Tab leads to the controls of the browser.
    const behind = page.locator('body *:focus:not(dialog *)')
    for (const key of [...Array<string>(12).fill('Tab'), ...Array<string>(15).fill('Shift+Tab')]) {
      await page.keyboard.press(key)
      expect(await behind.count()).toBe(0)
    }
  })

  it('move with Alt and an arrow, into a group and out of it', async () => {
    const names = 'filter[name_cont]=nightly&filter[name_start]=reindex'
    const apart = `filter[username_not_null]=1&${names.replaceAll('filter', 'filter[g][0]')}`
    const page = await open(`${apart}&filter[g][0][m]=or`)
    await openBuilder(page)
    await fields(page, 'Predicate').first().focus()
    await page.keyboard.press('Alt+ArrowDown')
    const within = `filter[m]=or&filter[username_not_null]=1&${names}`
    await expectPreview(page, within)
    await page.keyboard.press('Alt+ArrowUp')
    await expectPreview(page, `${apart}&filter[g][0][m]=or`)
    await page.keyboard.press('Alt+ArrowDown')
    await page.keyboard.press('Control+Enter')
    await shows(page, within)
  })

  it('keep the focus between two keys, also if a frame takes long', async () => {
    const filter = 'filter[username_not_null]=1&filter[g][0][name_cont]=nightly'
    const page = await open(filter, {}, openPage)
    await openBuilder(page)
    await stopFrames(page)
    await fields(page, 'Predicate').first().focus()
    await page.keyboard.press('Alt+ArrowDown')
    await page.keyboard.press('Alt+ArrowUp')
    await page.keyboard.press('Alt+ArrowDown')
    await page.keyboard.press('Control+Enter')
    await shows(page, 'filter[username_not_null]=1&filter[name_cont]=nightly')
  })

  it('let Tab continue from a predicate without a value', async () => {
    const page = await open('filter[username_eq]=ann', {}, openPage)
    await openBuilder(page)
    await stopFrames(page)
    await fields(page, 'Predicate').first().focus()
    await page.keyboard.type('is missing')
    await page.keyboard.press('Tab')
    const focused = page.locator(':focus')
    await expect.poll(() => focused.getAttribute('aria-label'), WAIT).toBe('Remove condition')
    await expectPreview(page, 'filter[username_null]=1')
  })

  it('take several values, joined by any or all', async () => {
    const page = await open()
    await openBuilder(page)
    await write(page, 'name', 'contains', 'a')
    await page.keyboard.type('e')
    await page.keyboard.press('Enter')
    await expectPreview(page, 'filter[name_cont_any][]=a&filter[name_cont_any][]=e')
    await builder(page).getByRole('button', { name: 'any of' }).click()
    const all = 'filter[name_cont_all][]=a&filter[name_cont_all][]=e'
    await expectPreview(page, all)
    await builder(page).getByRole('button', { name: /^Show/ }).click()
    await shows(page, all)
  })

  it('offer levels under the name level', async () => {
    const page = await open()
    await openBuilder(page)
    await write(page, 'level', 'is', 'warn')
    await page.keyboard.press('Control+Enter')
    const shown = await shows(
      page,
      'filter[type_start_any][]=warn:&filter[type_start_any][]=warning:',
    )
    expect(shown).toBe((await host.audit.count()).levels.warn)
  })

  it('report an invalid value', async () => {
    const page = await open()
    await openBuilder(page)
    await write(page, 'created_at', 'is after', 'soon')
    await expect.poll(() => builder(page).getByRole('alert').textContent(), WAIT).toContain('soon')
    expect(await builder(page).getByRole('button', { name: /^Show/ }).isDisabled()).toBe(true)
    await builder(page).getByRole('button', { name: 'Remove soon' }).click()
    await builder(page).getByRole('alert').waitFor({ state: 'detached' })
  })
})

describe('predicates', () => {
  it("are chosen in words, and show the server's counts", async () => {
    const page = await open('filter[name_eq]=nightly-2211')
    await openBuilder(page)
    for (const [word, predicate] of [
      ['is not', 'not_eq'],
      ['contains', 'cont'],
      ['does not contain', 'not_cont'],
      ['starts with', 'start'],
      ['does not end with', 'not_end'],
      ['matches', 'matches'],
      ['is at most', 'lteq'],
      ['is more than', 'gt'],
      ['is missing', 'null'],
      ['is set', 'not_null'],
      ['is blank', 'blank'],
      ['is true', 'true'],
    ] as const) {
      await fields(page, 'Predicate').first().click()
      await builder(page)
        .getByRole('option')
        .filter({ has: page.getByText(word, { exact: true }) })
        .click()
      const value = ['null', 'not_null', 'blank', 'true'].includes(predicate) ? '1' : 'nightly-2211'
      await expectPreview(page, `filter[name_${predicate}]=${value}`)
    }
  })
})

describe('groups', () => {
  it('are in groups, each for all or any', async () => {
    const page = await open('filter[username_not_null]=1')
    await openBuilder(page)
    const add = (name: string) => builder(page).getByRole('button', { name })
    await add('Group').last().click()
    await focusIs(page, 'Attribute', 2)
    await write(page, 'type', 'starts with', 'audit:')
    const any = builder(page).getByRole('group', { name: 'Group: any of' })
    await any.getByRole('button', { name: 'Group' }).click()
    await focusIs(page, 'Attribute', 3)
    await write(page, 'name', 'is', 'acme')
    await page.keyboard.press('Enter')
    await focusIs(page, 'Attribute', 4)
    await write(page, 'type', 'ends with', ':update')
    const filter =
      'filter[username_not_null]=1&filter[g][0][m]=or&filter[g][0][type_start]=audit:' +
      '&filter[g][0][g][0][name_eq]=acme&filter[g][0][g][0][type_end]=:update'
    await expectPreview(page, filter)
    await page.keyboard.press('Control+Enter')
    const both = await shows(page, filter)
    expect(both).toBeGreaterThan(1)

    await openBuilder(page)
    await builder(page).getByRole('button', { name: 'all' }).first().click()
    await page.keyboard.press('Control+Enter')
    const either = await shows(
      page,
      'filter[m]=or&filter[username_not_null]=1&filter[type_start]=audit:' +
        '&filter[g][0][name_eq]=acme&filter[g][0][type_end]=:update',
    )
    expect(either).toBeGreaterThan(both)
  })
})

describe('on a phone', () => {
  it('opens from the filters, and its button applies it', async () => {
    const page = await open('', { viewport: { width: 390, height: 844 } })
    await page
      .getByRole('navigation', { name: 'Tools' })
      .getByRole('button', { name: 'Filters' })
      .click()
    await page
      .getByRole('dialog', { name: 'Filters' })
      .getByRole('button', { name: 'Condition' })
      .click()
    await focusIs(page, 'Attribute', 0)
    await write(page, 'username', 'is', 'bob')
    await builder(page).getByRole('button', { name: /^Show/ }).click()
    await shows(page, 'filter[username_eq]=bob')
  })
})
