// A client of the AWS SDK for the endpoint that a command was given.
import type { DynamoDB, DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'

/** `aws` for Amazon's own endpoint of the region, with the credentials that the SDK finds. */
export async function endpointClient(endpoint: string, region: string | undefined): Promise<DynamoDB> {
  const sdk = await import('@aws-sdk/client-dynamodb')
  const { AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env
  const place: DynamoDBClientConfig = { region: region ?? AWS_REGION ?? 'us-east-1' }
  if (endpoint === 'aws') return new sdk.DynamoDB(place)
  return new sdk.DynamoDB({
    ...place,
    endpoint,
    // Endpoints on this machine take any; those that do not, refuse these.
    credentials: {
      accessKeyId: AWS_ACCESS_KEY_ID ?? 'seriatim',
      secretAccessKey: AWS_SECRET_ACCESS_KEY ?? 'seriatim',
    },
  })
}
