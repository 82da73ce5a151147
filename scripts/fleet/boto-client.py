# boto3 as a client of a fleet (callers.mjs): a request by line, in JSON, and an answer by line. Eight requests at a time.
import json
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

try:
    import boto3
    from botocore.config import Config
    from botocore.exceptions import ClientError
except ImportError:
    sys.exit(1)

SECONDS, ATTEMPTS = float(sys.argv[1]), int(sys.argv[2])
session = boto3.Session(aws_access_key_id='any', aws_secret_access_key='any', region_name='eu-central-1')
clients = {}
making = threading.Lock()
writing = threading.Lock()


def client(url, attempts):
    with making:
        if (url, attempts) not in clients:
            config = Config(retries={'total_max_attempts': attempts, 'mode': 'standard'}, connect_timeout=SECONDS,
                            read_timeout=SECONDS, max_pool_connections=16)
            clients[(url, attempts)] = session.client('dynamodb', endpoint_url=url, config=config)
        return clients[(url, attempts)]


def answer(line):
    asked = json.loads(line)
    method = re.sub('(?<!^)(?=[A-Z])', '_', asked['operation']).lower()
    told = {'id': asked['id']}
    try:
        body = getattr(client(asked['url'], 1 if asked['once'] else ATTEMPTS), method)(**asked['body'])
        told |= {'status': 200, 'body': {name: body[name] for name in body if name in ('Item', 'Responses')}}
    except ClientError as error:
        meta = error.response['ResponseMetadata']
        told |= {'status': meta['HTTPStatusCode'], 'name': error.response['Error']['Code'],
                 'attempts': 1 + meta.get('RetryAttempts', 0)}
    except Exception:
        told |= {'status': None, 'attempts': 1}
    with writing:
        print(json.dumps(told), flush=True)


print('ready', flush=True)
with ThreadPoolExecutor(8) as pool:
    for line in sys.stdin:
        pool.submit(answer, line)
