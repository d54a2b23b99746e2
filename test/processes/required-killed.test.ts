import { AuditLog } from 'daybook'
import { expect, it, onTestFinished, vi } from 'vitest'
import { type Child, linesOf, runScript } from '../support/child.js'
import { eachStore } from '../support/event-stores.js'
import { useLeapingTime } from '../support/leaping-time.js'

const time = useLeapingTime()
const REQUESTS = 60
/** Number of answers after which the service is killed. */
const ANSWERS = 40

/** Sends requests, each with another path, and kills the service among them. */
async function killDuringRequests(child: Child): Promise<readonly string[]> {
  await child.saw('\n')
  const [port] = linesOf(child, 'port ')
  const answered: string[] = []
  const post = async (n: number): Promise<void> => {
    // A batch of requests at a time.
    await new Promise((resolve) => setTimeout(resolve, Math.floor(n / 10)))
    const path = `/${n % 10 === 0 ? 'hanging' : 'quick'}/${n}`
    const { status } = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST' })
    expect(status).toBe(204)
    if (answered.push(path) === ANSWERS) child.process.kill('SIGKILL')
  }
  await Promise.allSettled(Array.from({ length: REQUESTS }, (_, n) => post(n)))
  await child.ended
  return answered
}

it.each(eachStore.filter(([name]) => name !== 'memory'))(
  'every request leaves one event when its process is killed: %s',
  { timeout: 180_000 },
  async (_name, createPlace) => {
    const place = await createPlace()
    const { demo } = place
    const location = demo.kind === 'sqlite' ? demo.filename : String(Object.values(demo)[1])
    const child = runScript('test/campaigns/required-child.ts', [location])
    const answered = await killDuringRequests(child)
    const ran = linesOf(child, 'ran ')

    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const store = place.open()
    const audit: AuditLog = new AuditLog({ store, types: {} })
    onTestFinished(async () => {
      vi.useRealTimers()
      await audit.close()
      await place.remove()
    })
    const recorded: unknown[] = []
    audit.on('recorded', ({ attributes }) => recorded.push(attributes['request_path']))
    audit.intents()
    while ((await store.updateState('intents', (value) => value)) !== undefined) {
      time.leap(5000)
      await vi.advanceTimersByTimeAsync(5000)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const { events } = await audit.list('limit=1000')
    const pathsOf = (type: string): unknown[] =>
      events
        .filter((event) => event.type === type)
        .map(({ attributes }) => attributes['request_path'])
    const interrupted = pathsOf('error:api:controller:unhandled')
    const paths = [...pathsOf('api:unmatched:create'), ...interrupted]
    expect(new Set(paths).size).toBe(paths.length)
    expect(paths).toHaveLength(events.length)
    expect(paths).toEqual(expect.arrayContaining([...ran, ...answered]))
    expect(interrupted).toEqual(
      expect.arrayContaining(ran.filter((path) => path.startsWith('/hanging/'))),
    )
    expect(recorded).toEqual(expect.arrayContaining(interrupted))
  },
)
