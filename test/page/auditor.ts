import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { rowIds, WAIT } from './shown.js'

/*
 * A person who works with the page. An action is a click, a drag, a key press, or a typed text that is confirmed with
 * Enter.
 */

export interface Auditor {
  readonly page: Page
  /** The number of actions so far. */
  readonly actions: number
  click(target: Locator): Promise<void>
  press(keys: string): Promise<void>
  /** Types into the element in focus, or into the target after focusing it, and presses Enter. */
  type(text: string, target?: Locator): Promise<void>
  /** Waits until the list shows exactly these events, in this order, in its first rows. */
  sees(ids: readonly string[]): Promise<void>
}

export const MAX_ACTIONS = 6

/** Fails a test whose task needs more than {@link MAX_ACTIONS} actions. */
export function auditor(page: Page): Auditor {
  let actions = 0
  const act = async (work: Promise<void>): Promise<void> => {
    actions += 1
    expect(actions, 'actions of this task').toBeLessThanOrEqual(MAX_ACTIONS)
    await work
  }
  const type = async (text: string, target?: Locator): Promise<void> => {
    await target?.focus()
    await page.keyboard.type(text)
    await page.keyboard.press('Enter')
  }
  return {
    page,
    get actions() {
      return actions
    },
    click: (target) => act(target.click()),
    press: (keys) => act(page.keyboard.press(keys)),
    type: (text, target) => act(type(text, target)),
    sees: async (ids) => {
      await expect.poll(async () => (await rowIds(page)).slice(0, ids.length), WAIT).toEqual(ids)
    },
  }
}
