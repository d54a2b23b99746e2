import type { TestProject } from 'vitest/node'
import browser from './global-browser.js'
import compiled from './global-compiled.js'
import page from './global-page.js'
import postgres from './global-postgres.js'

type Stop = () => Promise<void>

/** Sets up the resources that all test files share, concurrently. `built` are builds of the sources and of the page. */
export async function setUp(
  project: TestProject,
  built: readonly Promise<Stop | void>[],
): Promise<Stop> {
  const started = await Promise.allSettled<Stop | void>([
    browser(project),
    postgres(project),
    ...built,
  ])
  const stop: Stop = async () => {
    const stops = started.flatMap((one) => (one.status === 'fulfilled' ? (one.value ?? []) : []))
    await Promise.all(stops.map((end) => end()))
  }
  const failed = started.find((one) => one.status === 'rejected')
  if (failed) {
    await stop()
    throw failed.reason
  }
  return stop
}

export default (project: TestProject): Promise<Stop> => setUp(project, [compiled(project), page()])
