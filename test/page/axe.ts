import axe from 'axe-core'
import type { Page } from 'playwright-core'

/* Accessibility checks of a page by axe. */

export const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** The whole document, as an expression. */
export const ALL = 'document'

/** True for an expression for the whole document, or for it without some parts. */
const isWhole = (checked: string): boolean => checked === ALL || checked.includes('exclude:')

interface Violation {
  readonly id: string
  readonly nodes: readonly {
    readonly target: readonly string[]
    readonly failureSummary?: string
  }[]
}

/** The violations that axe reports, with their elements. `checked` is an expression for the checked parts. */
export async function violationsOf(
  page: Page,
  rules: readonly string[] = RULES,
  checked = ALL,
): Promise<string[]> {
  // The part with the heading of the page is loaded late.
  if (isWhole(checked)) await page.locator('h1').first().waitFor({ state: 'attached' })
  const isLoaded = await page.evaluate<boolean>(`'axe' in globalThis`)
  if (!isLoaded) await page.evaluate(`${axe.source};undefined`)
  const { violations } = await page.evaluate<{ violations: readonly Violation[] }>(
    `axe.run(${checked}, { runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] })`,
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  )
}
