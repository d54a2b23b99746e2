import { webhook } from 'daybook/channels'
import { Webhook } from 'standardwebhooks'
import { afterEach, expect, it } from 'vitest'
import type { Child } from '../support/child.js'
import { blocksOf, docPages } from '../support/doc-pages.js'
import { deliveryOf, faultOf, numberedEvent } from '../support/receiver.js'
import { runExample } from './run-example.js'

/* Runs the receiver of the page on channels as it stands, on a free port. */

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`

const page = docPages.find(({ file }) => file === 'docs/guide/channels.md')!
const receiver = blocksOf(page, 'ts').find(({ code }) => code.includes('http.createServer'))!

let child: Child | undefined

afterEach(async () => {
  await child?.kill()
})

async function start(): Promise<string> {
  const code = receiver.code.replace('server.listen(4000)', `server.listen(0, '127.0.0.1')`)
  const announce = `server.on('listening', () => console.log('port ' + server.address().port + '.'))`
  child = runExample('receiver', `${code}\n${announce}\n`, { HOOK_SECRET: SECRET })
  await child.saw('.\n')
  const [, port] = /^port (\d+)\./.exec(child.stdout())!
  return `http://127.0.0.1:${port}/`
}

it(
  'handles each event of signed webhooks once, and refuses others',
  { timeout: 180_000 },
  async () => {
    const url = await start()
    const [one, two] = [numberedEvent(1, { name: 'shop' }), numberedEvent(2, { name: 'blog' })]
    const single = webhook({ url, secret: SECRET })
    await single.deliver([one], deliveryOf([one]))
    await single.deliver([one], { ...deliveryOf([one]), attempt: 2 })
    const batch = webhook({ url, secret: [OTHER_SECRET, SECRET], batch: { maxEvents: 10 } })
    await batch.deliver([one, two], deliveryOf([one, two]))

    const stranger = webhook({ url, secret: OTHER_SECRET })
    expect((await faultOf(stranger.deliver([one], deliveryOf([one])))).status).toBe(401)
    const body = JSON.stringify({ data: { id: '3', sentence: 'too late' } })
    const signedAt = (time: Date): Promise<Response> => {
      const signature = new Webhook(SECRET).sign('id', time, body)
      const seconds = String(Math.floor(time.getTime() / 1000))
      const headers = {
        'webhook-id': 'id',
        'webhook-timestamp': seconds,
        'webhook-signature': signature,
      }
      return fetch(url, { method: 'POST', headers, body })
    }
    expect((await signedAt(new Date(Date.now() - 301_000))).status).toBe(401)
    expect((await signedAt(new Date())).status).toBe(204)
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401)
    expect(child!.stdout().split('\n').slice(1, -1)).toEqual([
      'ann created project shop',
      'ann created project blog',
      'too late',
    ])
  },
)
