import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { openPage } from '../support/browser.js'
import { shareHost } from './shared-host.js'
import { stopFrames, WAIT } from './shown.js'

/* The filters in the bar: chips, and the field to add a filter. */

const host = shareHost()

const ANN = 'filter[username_eq]=ann'
const AUDIT = 'filter[type_start_any][]=audit:'

const { open, shows } = host
const field = (page: Page) => page.getByRole('combobox', { name: 'Add a filter' })
const chip = (page: Page, name: string | RegExp) =>
  page.getByRole('list', { name: 'Filters' }).getByRole('button', { name }).first()
const options = (page: Page) =>
  page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option')
const first = (page: Page) => expect.poll(() => options(page).first().textContent(), WAIT)

describe('chips', () => {
  it('describe the filters of the address in words, and remove them', async () => {
    const page = await open(`${ANN}&${AUDIT}`)
    await chip(page, 'level is audit').waitFor()
    await page.getByRole('button', { name: 'Remove filter user is ann' }).click()
    await shows(page, AUDIT)
    await chip(page, /user/).waitFor({ state: 'detached' })
    await page.goBack()
    await shows(page, `${ANN}&${AUDIT}`)
  })

  it('are navigated and edited by keys', async () => {
    const page = await open(`${ANN}&${AUDIT}`)
    const focused = () => expect.poll(() => page.locator(':focus').textContent(), WAIT)
    await chip(page, 'level is audit').waitFor()
    await field(page).focus()
    await page.keyboard.press('Backspace')
    await focused().toBe('level is audit')
    await page.keyboard.press('ArrowLeft')
    await focused().toBe('user is ann')
    await page.keyboard.press('!')
    await shows(page, `filter[username_not_eq]=ann&${AUDIT}`)
    await focused().toContain('user is not ann')
    await page.keyboard.press('!')
    await shows(page, `${ANN}&${AUDIT}`)
    await focused().toBe('user is ann')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('!')
    await shows(page, `${ANN}&filter[type_not_start_all][]=audit:`)
    await focused().toContain('level is not audit')
    await page.keyboard.press('Backspace')
    await shows(page, ANN)
    await focused().toBe('user is ann')
    await page.keyboard.press('Delete')
    await shows(page, '')
  })

  it('keep the focus between two keys, also if a frame takes long', async () => {
    const page = await open(`${ANN}&${AUDIT}`, {}, openPage)
    await chip(page, 'level is audit').focus()
    await stopFrames(page)
    await page.keyboard.press('Backspace')
    await page.keyboard.press('!')
    await page.keyboard.press('!')
    await page.keyboard.press('Backspace')
    await shows(page, '')
    await expect.poll(() => field(page).and(page.locator(':focus')).count(), WAIT).toBe(1)
  })

  it('open the builder with their filters', async () => {
    const page = await open(`${ANN}&${AUDIT}`)
    const builder = page.getByRole('dialog', { name: 'Filter builder' })
    await chip(page, 'user is ann').press('Enter')
    await builder.getByRole('combobox', { name: 'Attribute' }).first().waitFor()
    await expect
      .poll(() => page.locator(':focus').getAttribute('id'), WAIT)
      .toBe(await builder.getByRole('combobox', { name: 'Value' }).first().getAttribute('id'))
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await builder.waitFor({ state: 'detached' })
    await shows(page, `${ANN}&${AUDIT}`)
  })

  it('show how many events "is not" drops because they lack the attribute, and keep these events with a click', async () => {
    const page = await open('filter[username_not_eq]=ann')
    const { total } = await host.audit.count('filter[username_null]=1')
    expect(total).toBeGreaterThan(1000)
    await chip(page, `also hides ${total.toLocaleString('en-US')} without a user`).waitFor()
    await page.getByRole('button', { name: 'user is not ann or is missing' }).click()
    const both = 'filter[m]=or&filter[username_not_eq]=ann&filter[username_null]=1'
    const kept = await shows(page, both)
    expect(kept).toBe((await host.audit.count('filter[username_not_eq]=ann')).total + total)
    await chip(page, 'user is not ann or user is missing').waitFor()
    await page.getByText('also hides').waitFor({ state: 'detached' })
  })
})

describe('the field', () => {
  it('suggests users and types that occur', async () => {
    const page = await open()
    await page.keyboard.press('/')
    await page.keyboard.type('mir')
    await first(page).toBe('contains the text mir')
    const { total } = await host.audit.count('filter[username_eq]=mira')
    const mira = options(page)
      .filter({ hasText: /^user is mira/ })
      .first()
    await expect.poll(() => mira.textContent(), WAIT).toContain(`${total} events`)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await shows(page, 'filter[username_eq]=mira')
    await field(page).fill('secrets')
    await options(page).filter({ hasText: 'type is api:secrets:resolve' }).first().click()
    await shows(page, 'filter[username_eq]=mira&filter[type_eq]=api:secrets:resolve')
    await expect.poll(() => field(page).inputValue(), WAIT).toBe('')
  })

  it('completes attributes, predicates and values', async () => {
    const page = await open()
    await field(page).fill('attem')
    await options(page)
      .filter({ hasText: /^attempt/ })
      .click()
    await expect.poll(() => field(page).inputValue(), WAIT).toBe('attempt ')
    await page.keyboard.type('at l')
    await first(page).toMatch(/^attempt is at least/)
    await page.keyboard.press('Enter')
    // Enter waits for the suggestions of the typed text, and gives up if the text changes meanwhile.
    await expect.poll(() => field(page).inputValue(), WAIT).not.toBe('attempt at l')
    await page.keyboard.type('3')
    await first(page).toMatch(/^attempt is at least 3/)
    await page.keyboard.press('Enter')
    expect(await shows(page, 'filter[attempt_gteq]=3')).toBe(1)
  })

  it('accepts a filter that is typed in full', async () => {
    const page = await open()
    await field(page).fill('name is any of nightly-2211, reindex-7')
    await first(page).toMatch(/^name is nightly-2211 or reindex-7/)
    await page.keyboard.press('Enter')
    const names = 'filter[name_in][]=nightly-2211&filter[name_in][]=reindex-7'
    expect(await shows(page, names)).toBe(2)
    await field(page).fill('level is not api')
    await first(page).toContain('level is not api')
    await page.keyboard.press('Enter')
    expect(await shows(page, `${names}&filter[type_not_start_all][]=api:`)).toBe(1)
  })

  it('searches all texts for words and phrases, and Enter alone accepts nothing', async () => {
    const page = await open()
    await field(page).fill('warm ca')
    await first(page).toBe('contains the text warm and contains the text ca')
    await options(page).filter({ hasText: 'contains the text warm ca' }).click()
    expect(await shows(page, 'q="warm ca"')).toBeGreaterThan(10)
    await page.keyboard.press('Enter')
    await shows(page, 'q="warm ca"')
    await field(page).fill('-timed NIGHTLY')
    await page.keyboard.press('Enter')
    expect(await shows(page, 'q="warm ca" -timed NIGHTLY')).toBeGreaterThan(0)
    await page.getByRole('button', { name: 'Remove filter contains the text NIGHTLY' }).click()
    expect(await shows(page, 'q="warm ca" -timed')).toBeGreaterThan(0)
    await chip(page, 'does not contain the text timed').press('!')
    expect(await shows(page, 'q="warm ca" timed')).toBeGreaterThan(0)
  })

  it('reads typed conditions and times, and names parts that it does not understand', async () => {
    const page = await open()
    await field(page).fill('status>=200 -user:bob level:api')
    await first(page).toBe('response_status is at least 200 and user is not bob and level is api')
    await page.keyboard.press('Enter')
    const filter = 'filter[response_status_gteq]=200&filter[username_not_eq]=bob'
    await shows(page, `${filter}&filter[type_start_any][]=api:`)
    await field(page).fill('attempt >')
    await first(page).toContain('A value is missing after attempt >')
    await page.keyboard.press('Enter')
    expect(await field(page).inputValue()).toBe('attempt >')
    await field(page).fill('colour > 5')
    await first(page).toContain('unknown attribute: colour')
  })

  it('offers types whose sentence has the word', async () => {
    const page = await open()
    await field(page).fill('not allowed')
    const types = options(page).filter({ hasText: /^type is audit:.*:denied/ })
    await types.first().waitFor()
  })

  it('suggests recent queries', async () => {
    const page = await open(`${ANN}&${AUDIT}`, {}, openPage)
    // Queries are recorded by the part that shows the chips, which is loaded late.
    await chip(page, 'level is audit').waitFor()
    await field(page).focus()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Backspace')
    await page.keyboard.press('Backspace')
    await shows(page, '')
    // The suggestions open when the field gets the focus.
    await field(page).blur()
    await field(page).focus()
    await options(page).filter({ hasText: 'user is ann and level is audit' }).click()
    await shows(page, `${ANN}&${AUDIT}`)
  })

  it('closes the suggestions, then drops the focus, on Escape', async () => {
    const page = await open()
    await field(page).fill('mir')
    await options(page).first().waitFor()
    await page.keyboard.press('Escape')
    await options(page).first().waitFor({ state: 'detached' })
    expect(await field(page).inputValue()).toBe('mir')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('input:focus').count()).toBe(0)
    await shows(page, '')
  })
})
