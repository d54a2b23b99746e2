import http from 'node:http'
import { type CliResult, runCli } from './run-cli.js'

export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}

/** Sends a request with exactly these headers. Without a header `Host`, the host of the address is used. */
export function send(url: string, options: http.RequestOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { agent: false, ...options }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => (body += text))
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body }),
      )
      response.on('error', reject)
    })
    request.on('error', reject).end()
  })
}

/** Opens the printed address. Resolves to the `Cookie` header of a browser that has opened it. */
export async function signIn(address: string): Promise<string> {
  const { status, headers } = await send(address)
  if (status !== 303) throw new Error(`the address answers with ${status}`)
  return headers['set-cookie']![0]!.split(';')[0]!
}

/** All events that the feed lists, up to 1000. */
export async function eventsOf(
  address: string,
  cookie: string,
): Promise<readonly { readonly id: string }[]> {
  const { body } = await send(`${new URL(address).origin}/api/events?limit=1000`, {
    headers: { cookie },
  })
  return (JSON.parse(body) as { data: { readonly id: string }[] }).data
}

export interface Serving {
  /** The printed address. */
  readonly address: string
  readonly origin: string
  /** Presses Ctrl-C. */
  end(): Promise<CliResult>
}

/** Runs `daybook serve` in this process. Resolves once it has printed the address. */
export async function startServing(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Serving> {
  const interrupt = new AbortController()
  let run: Promise<CliResult> | undefined
  const printed = new Promise<string>((resolve) => {
    run = runCli(['serve', ...args], { env, signal: interrupt.signal, onStdout: resolve })
  })
  const first = await Promise.race([printed, run!])
  if (typeof first === 'object') throw new Error(first.stderr)
  const address = first.startsWith('{')
    ? (JSON.parse(first) as { readonly url: string }).url
    : first.trim()
  return {
    address,
    origin: new URL(address).origin,
    end() {
      interrupt.abort()
      return run!
    },
  }
}
