import net from 'node:net'

/** Texts; a statement must contain one of them. */
type Texts = string | readonly string[]

/** Matches statements that append events, by their text or by the name of a prepared statement. */
export const APPEND: Texts = ['".append_', '_append\0']

/** A TCP proxy in front of a server, which can lose the server's responses. */
export interface Proxy {
  readonly port: number
  /** Loses the next response to a statement that contains the text, and breaks that connection. */
  loseAnswerTo(text: Texts): void
  /**
   * Loses the next response to such a statement, or the statement itself. Then nothing is transmitted, as after
   * `refuse`. Resolves once that connection is broken.
   */
  breakAt(text: Texts, lost: 'answer' | 'statement'): Promise<void>
  /** Keeps back the next such statement, and then all data of its connection. Resolves once it does. */
  stallAt(text: Texts): Promise<void>
  /** The text of `loseAnswerTo` while no statement contained it. */
  unheard(): Texts | undefined
  /** Drops responses from now on, and breaks the connections after this many milliseconds. */
  loseAnswers(brokenAfterMs: number): void
  /** Refuses new connections and breaks the existing ones. */
  refuse(): void
  heal(): void
  /** Breaks the existing connections. New connections lead to another server. */
  moveTo(target: ProxyTarget): void
  /** New connections lead to another server. Existing connections stay. */
  redirect(target: ProxyTarget): void
  close(): Promise<void>
}

export interface ProxyTarget {
  readonly host: string
  readonly port: number
}

export async function startProxy(first: ProxyTarget): Promise<Proxy> {
  let target = first
  let mode: 'open' | 'losing' | 'refusing' = 'open'
  let brokenAfter = 0
  let unanswered: Texts | undefined
  let isBreaking = false
  let isStatementLost = false
  let isStalling = false
  let onBroken = (): void => {}
  const sockets = new Set<net.Socket>()
  const server = net.createServer((client) => {
    if (mode === 'refusing') {
      client.destroy()
      return
    }
    const upstream = net.connect(target)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.end()
      })
    }
    let isLost = false
    let isStalled = false
    client.on('data', (data) => {
      if (isStalled) return
      if ([unanswered ?? []].flat().some((text) => data.includes(text))) {
        unanswered = undefined
        if (isStalling) {
          isStalled = true
          return onBroken()
        }
        isLost = true
        if (isBreaking) {
          mode = 'refusing'
          for (const socket of sockets)
            if (socket !== client && socket !== upstream) socket.destroy()
        }
        if (isStatementLost) {
          client.destroy()
          onBroken()
        }
      }
      if (isLost && isStatementLost) return
      upstream.write(data)
      if (mode === 'losing') setTimeout(() => client.destroy(), brokenAfter)
    })
    upstream.on('data', (data) => {
      if (isStalled) return
      if (isLost) {
        client.destroy()
        onBroken()
      } else if (mode !== 'losing') client.write(data)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as net.AddressInfo).port,
    loseAnswerTo(text) {
      unanswered = text
      isBreaking = false
      isStatementLost = false
      isStalling = false
    },
    breakAt(text, lost) {
      unanswered = text
      isBreaking = true
      isStatementLost = lost === 'statement'
      isStalling = false
      return new Promise((resolve) => (onBroken = resolve))
    },
    stallAt(text) {
      unanswered = text
      isStalling = true
      return new Promise((resolve) => (onBroken = resolve))
    },
    unheard: () => unanswered,
    loseAnswers(brokenAfterMs) {
      mode = 'losing'
      brokenAfter = brokenAfterMs
    },
    refuse() {
      mode = 'refusing'
      for (const socket of sockets) socket.destroy()
    },
    moveTo(next) {
      target = next
      for (const socket of sockets) socket.destroy()
    },
    redirect(next) {
      target = next
    },
    heal() {
      mode = 'open'
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Starts a proxy in front of the server of a database. The returned URL leads to the database through it. */
export async function startProxyOf(database: string): Promise<{ proxy: Proxy; url: string }> {
  const url = new URL(database)
  const proxy = await startProxy({ host: url.hostname, port: Number(url.port || 5432) })
  url.host = `127.0.0.1:${proxy.port}`
  return { proxy, url: url.href }
}
