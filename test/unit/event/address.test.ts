import { isIPv6, SocketAddress } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { networkOf, normalAddress } from '../../../src/event/address.js'

describe('the normal form', () => {
  it.each([
    [
      '192.0.2.1',
      ['192.0.2.1', ' 192.0.2.1\t', '"192.0.2.1"', '192.0.2.1:80', '192.0.2.1:_hidden'],
    ],
    ['192.0.2.1', ['::ffff:192.0.2.1', '::FFFF:c000:0201', '0:0:0:0:0:ffff:192.0.2.1']],
    ['192.0.2.1', ['[::ffff:192.0.2.1]:8080', '::ffff:192.0.2.1%eth0', '"[::ffff:c000:201]:1"']],
    ['127.0.0.1', ['127.0.0.1', '::ffff:7f00:1', '0000:0000:0000:0000:0000:ffff:7f00:0001']],
    ['2001:db8::1', ['2001:DB8::1', '2001:0db8:0:0:0:0:0:1', '2001:db8::0:1', '2001:db8:0::1']],
    ['2001:db8::1', ['[2001:db8::1]', '[2001:db8::1]:443', '"[2001:db8::1]:443"']],
    ['fe80::1', ['fe80::1%eth0', 'fe80::1%25en0', '[fe80::1%3]:80']],
    ['::', ['::', '0:0:0:0:0:0:0:0']],
    ['::1', ['::1', '::0001', '0:0:0:0:0:0:0:1']],
    ['1::', ['1::', '1:0:0:0:0:0:0:0', '1:0:0:0:0:0:0::']],
    // A single group of zeros is not shortened. Of two runs of equal length, the first one is.
    ['1:0:3:4:5:6:7:8', ['1:0:3:4:5:6:7:8', '1::3:4:5:6:7:8']],
    ['1::4:0:0:7:8', ['1:0:0:4:0:0:7:8']],
    ['1:0:0:4::8', ['1:0:0:4:0:0:0:8']],
    // Other IPv6 forms of IPv4 addresses mean other hosts.
    ['64:ff9b::c000:201', ['64:ff9b::192.0.2.1']],
    ['2002:c000:201::', ['2002:c000:0201::']],
    ['::ffff:0:c000:201', ['::ffff:0:192.0.2.1']],
    ['::fffe:c000:201', ['::fffe:192.0.2.1']],
  ])('%s of %j', (normal, forms) => {
    for (const form of forms) expect([form, normalAddress(form)]).toEqual([form, normal])
  })

  it.each([
    ['', 'unknown', '_hidden', '-', 'localhost', 'example.com', '[]', '""', ':', ':::'],
    ['192.0.2', '192.0.2.256', '192.0.2.1.1', '192.0.2.', '1.2.3.4/24', '3221225985', '0xc0.0.2.1'],
    [
      '010.0.0.1',
      '192.0.02.1',
      '00.0.0.0',
      '+1.2.3.4',
      '1.2.3.4%eth0',
      '１.2.3.4',
      '1.2.3.4 5.6.7.8',
    ],
    ['192.0.2.1, 198.51.100.7', 'for=192.0.2.1', '192.0.2.1:', '192.0.2.1:http', '[192.0.2.1]:80'],
    ['1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1::2::3', '1:2:3:4::5:6:7:8', ':1:2:3:4:5:6:7:8', '1:'],
    [
      '12345::',
      'g::',
      '::192.0.2.1:80',
      '::ffff:192.0.2.01',
      '::ffff:1.2.3',
      '1.2.3.4::',
      'fe80::1%',
    ],
    ['[::1', '::1]', '[::1]80', '[[::1]]', `${'0'.repeat(8000)}::1`, 'x'.repeat(8000), '::1\n::2'],
    [undefined, null, 1, {}, ['192.0.2.1'], Buffer.from('192.0.2.1')],
  ])('%j and similar texts are not addresses', (...texts: unknown[]) => {
    for (const text of texts) expect([text, normalAddress(text)]).toEqual([text, ''])
  })

  it('equals the form of the system, for any IPv6 address', () => {
    const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }))
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const text = groups.map((value) => value.toString(16).padStart(4, '0')).join(':')
        const normal = normalAddress(text)
        const { address } = new SocketAddress({ address: text, family: 'ipv6' })
        // The system writes some IPv6 addresses with dots although they contain no IPv4 address.
        fc.pre(!address.includes('.'))
        expect(normal).toBe(address)
        expect(normalAddress(normal)).toBe(normal)
      }),
    )
  })

  it('exists for every text that node:net accepts as IPv6', () => {
    const characters = fc.constantFrom('0', '1', 'f', ':', '::', '1.2.3.4', '255', '.')
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 12 }), (parts) => {
        const text = parts.join('')
        expect([text, normalAddress(`[${text}]`) !== '']).toEqual([text, isIPv6(text)])
      }),
      { numRuns: 2000 },
    )
  })
})

it.each([
  ['192.0.2.1', ['192.0.2.1', '::ffff:192.0.2.1', '::ffff:c000:201', '192.0.2.1:5000']],
  ['127.0.0.1', ['::ffff:7f00:1']],
  ['2001:db8:1:2::/64', ['2001:db8:1:2:3:4:5:6', '2001:DB8:1:2::', '[2001:0db8:1:2::7]:80']],
  ['2001:db8::/64', ['2001:db8::', '2001:db8::1']],
  ['1:0:0:2::/64', ['1::2:3:4:5:6']],
  ['::/64', ['::1', '::']],
  ['fe80::/64', ['fe80::1%eth0']],
  ['', ['', 'unknown', 'x'.repeat(8000)]],
])('clients of the network %s are limited together', (network, addresses) => {
  for (const address of addresses) expect(networkOf(address)).toBe(network)
})
