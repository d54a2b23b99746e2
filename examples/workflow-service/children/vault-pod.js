import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { serve } from './serve.js'

/* A pod of the secret vault: encrypts and decrypts in its own process. */

const [algorithm, key] = process.argv.slice(2)
const secretKey = Buffer.from(key, 'base64')

function encrypt(text) {
  const iv = randomBytes(12)
  const cipher = createCipheriv(algorithm, secretKey, iv)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return Buffer.concat([iv, sealed]).toString('base64')
}

function decrypt(text) {
  const bytes = Buffer.from(text, 'base64')
  const decipher = createDecipheriv(algorithm, secretKey, bytes.subarray(0, 12))
  decipher.setAuthTag(bytes.subarray(-16))
  const opened = [decipher.update(bytes.subarray(12, -16)), decipher.final()]
  return Buffer.concat(opened).toString('utf8')
}

// Fails at the start if the algorithm does not work.
decrypt(encrypt('check'))

serve({ encrypt, decrypt })
