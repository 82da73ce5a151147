// Certificates that a test makes for itself, by openssl.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { testFolder } from './folder.js'

export interface TestCertificate {
  readonly certPath: string
  readonly keyPath: string
  readonly cert: Buffer
  readonly key: Buffer
}

/** Why there can be none here; false if there can. Under CI there must be. */
export const noCertificates: string | false = ((): string | false => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return false
  } catch {
    return process.env['CI'] === undefined ? 'openssl is not installed' : false
  }
})()

/** For localhost, signed by itself. */
export function makeCertificate(): TestCertificate {
  const folder = testFolder()
  const certPath = join(folder, 'cert.pem')
  const keyPath = join(folder, 'key.pem')
  const how = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost'
  const names = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  execFileSync('openssl', [...how.split(' '), ...names, '-keyout', keyPath, '-out', certPath], {
    stdio: 'ignore',
  })
  return { certPath, keyPath, cert: readFileSync(certPath), key: readFileSync(keyPath) }
}
