import { expect, it, onTestFinished } from 'vitest'
import { openPage } from '../../support/browser.js'
import { servePage } from '../../support/page-host.js'
import { auditor } from '../auditor.js'
import { requestEvents } from '../requests.js'
import { rowsOf, WAIT } from '../shown.js'

it('finds the route with the most failures of the service, and their requests', async () => {
  const events = requestEvents(
    Array.from({ length: 60 }, (_, n) => ({
      path: ['/api/orders', '/api/users', '/api/search'][n % 3]!,
      status: n % 5 === 0 || n % 12 === 1 ? 503 : 200,
    })),
  )
  const host = await servePage({ events })
  onTestFinished(() => host.close())
  const page = await openPage(host.page, { user: 'ann' })
  await rowsOf(page).first().waitFor()
  const { click, type, sees } = auditor(page)
  await type(
    'response_status is at least 500',
    page.getByRole('combobox', { name: 'Add a filter' }),
  )
  await click(page.getByRole('button', { name: 'Group', exact: true }))
  await type('request_path', page.getByRole('combobox', { name: 'Group by' }))
  const first = page.getByRole('region', { name: 'Groups' }).getByRole('row').nth(1)
  const failed = (path: string): readonly string[] =>
    events
      .filter(
        ({ attributes }) =>
          attributes['request_path'] === path && Number(attributes['response_status']) >= 500,
      )
      .map(({ id }) => id)
      .toReversed()
  const worst = ['/api/orders', '/api/users', '/api/search'].toSorted(
    (a, b) => failed(b).length - failed(a).length,
  )[0]!
  // The groups of the query before may be shown first.
  await expect
    .poll(() => first.getByRole('cell').first().textContent(), WAIT)
    .toBe(String(failed(worst).length))
  await first.getByText(worst).waitFor()
  await click(first.getByRole('button'))
  await sees(failed(worst))
  expect(await rowsOf(page).count()).toBe(failed(worst).length)
})
