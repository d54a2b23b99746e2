import type { TestProject } from 'vitest/node'
import browser from './global-browser.js'
import compiled from './global-compiled.js'
import page from './global-page.js'
import postgres from './global-postgres.js'

type Stop = () => Promise<void>

/** Sets up the resources that all test files share, concurrently. */
export default async function setup(project: TestProject): Promise<Stop> {
  const started = await Promise.allSettled<Stop | void>([
    browser(project),
    compiled(project),
    page(),
    postgres(project),
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
