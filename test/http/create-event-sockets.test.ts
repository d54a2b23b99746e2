import { once } from 'node:events'
import net from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { JSON_API, serve, type TestServer } from '../support/http.js'

const BODY = '{"data":{"type":"Event","attributes":{"type":"x"}}}'
const MEGABYTE = 1_048_576

describe('POST /api/events over a socket', () => {
  let server: TestServer
  let socket: net.Socket
  let received: string

  beforeEach(async () => {
    server = await serve()
    received = ''
    socket = net.connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.setEncoding('latin1').on('data', (text: string) => (received += text))
    // The server may close the connection of a client that keeps sending.
    socket.on('error', () => {})
    await once(socket, 'connect')
  })
  afterEach(async () => {
    socket.destroy()
    await server.close()
  })

  const begin = (...headers: string[]): void => {
    const credentials = Buffer.from('ann:ann').toString('base64')
    const lines = [
      'POST /api/events HTTP/1.1',
      'Host: x',
      `Authorization: Basic ${credentials}`,
      `Content-Type: ${JSON_API}`,
      ...headers,
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  }
  const saw = async (text: string): Promise<void> => {
    while (!received.includes(text)) await once(socket, 'data')
  }
  const types = async () => (await server.audit.list()).events.map(({ type }) => type)

  it('responds 413 while the client keeps sending chunks', async () => {
    begin('Transfer-Encoding: chunked')
    const text = 'x'.repeat(65_536)
    let sent = 0
    while (!received.includes('\r\n\r\n')) {
      if (!socket.write(`${text.length.toString(16)}\r\n${text}\r\n`))
        await Promise.race([once(socket, 'drain'), once(socket, 'data')])
      sent += text.length
      await new Promise((resolve) => void setImmediate(resolve))
    }
    expect(received).toMatch(/^HTTP\/1\.1 413 /)
    expect(sent).toBeGreaterThan(MEGABYTE)
    expect(await types()).toEqual([])
  })

  it('responds 413 to a content-length before the body is sent', async () => {
    begin(`Content-Length: ${MEGABYTE + 1}`)
    await saw('BODY_TOO_LARGE')
    expect(received).toMatch(/^HTTP\/1\.1 413 /)
    expect(await types()).toEqual([])
  })

  it('supports Expect: 100-continue', async () => {
    begin(`Content-Length: ${BODY.length}`, 'Expect: 100-continue')
    await saw('HTTP/1.1 100 Continue\r\n\r\n')
    expect(await types()).toEqual([])
    socket.write(BODY)
    await saw('HTTP/1.1 201 Created')
    expect(await types()).toEqual(['x'])
  })

  it('accepts a body sent byte by byte', async () => {
    begin(`Content-Length: ${BODY.length}`)
    socket.setNoDelay(true)
    for (const byte of BODY) {
      socket.write(byte)
      await new Promise((resolve) => void setImmediate(resolve))
    }
    await saw('HTTP/1.1 201 Created')
    expect(await types()).toEqual(['x'])
  })

  it('handles further requests on a connection whose body was refused', async () => {
    const text = 'x'.repeat(MEGABYTE)
    begin(`Content-Length: ${text.length + 1}`)
    socket.write(`${text}x`)
    await saw('BODY_TOO_LARGE')
    begin(`Content-Length: ${BODY.length}`)
    socket.write(BODY)
    await saw('HTTP/1.1 201 Created')
    expect(await types()).toEqual(['x'])
  })

  it('stores nothing if the client disconnects within the body', async () => {
    begin(`Content-Length: ${BODY.length + 1}`)
    socket.write(BODY)
    socket.destroy()
    await server.send('/api/events')
    expect(await types()).toEqual([])
  })
})
