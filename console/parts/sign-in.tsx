// Asked for when the server wants signatures. The secret is kept as a key of the browser, for as long as the tab is open.
import { useState } from 'preact/hooks'
import { useKey, wantsKey } from '../wire/client.js'
import { useObservable } from '../wire/observable.js'
import { openSigner } from '../wire/signature.js'
import { Dialog, Field, TextInput } from './basics.js'

export function SignIn() {
  const why = useObservable(wantsKey)
  const [id, setId] = useState('')
  const [secret, setSecret] = useState('')
  const [isPutOff, setPutOff] = useState(false)
  if (why === undefined) return null
  if (isPutOff)
    return (
      <div class="offline" role="status">
        The server wants a key.{' '}
        <button type="button" class="small" onClick={() => setPutOff(false)}>
          Give one
        </button>
      </div>
    )
  return (
    <Dialog title="Sign in with an access key" onClose={() => setPutOff(true)}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void openSigner(id.trim(), secret.trim()).then((signer) => {
            setSecret('')
            useKey(signer)
          })
        }}
      >
        <p>
          This server accepts only signed requests. The secret never leaves this tab: it signs here, and is
          forgotten when the tab is closed.
        </p>
        {why !== '' && (
          <div class="notice bad" role="alert">
            {why}
          </div>
        )}
        <Field label="Access key id">
          {(field) => <TextInput id={field} value={id} onValue={setId} required />}
        </Field>
        <Field label="Secret access key">
          {(field) => <TextInput id={field} type="password" value={secret} onValue={setSecret} required />}
        </Field>
        <div class="actions">
          <button type="submit" class="primary">
            Sign in
          </button>
        </div>
      </form>
    </Dialog>
  )
}
