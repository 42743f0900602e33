"""A server like Amazon S3 (moto) on loopback, with the files of a folder in a bucket, until its standard input ends.

Usage: s3_peer.py FOLDER. Prints its address and that of a presigned request for signed.ra, as JSON. A line "KEY FILE" on
standard input replaces an object, and is answered with "done".
"""

import json
import logging
import os
import pathlib
import sys

# Before moto reads them: requests are checked, and belong to the keys that are made below.
os.environ.update(
    AWS_ACCESS_KEY_ID="root",
    AWS_SECRET_ACCESS_KEY="root",
    AWS_DEFAULT_REGION="us-east-1",
)

import boto3
from moto.server import ThreadedMotoServer

logging.getLogger("werkzeug").setLevel(logging.ERROR)

BUCKET = "box"
folder = pathlib.Path(sys.argv[1])
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
address = "http://{}:{}".format(*server.get_host_and_port())
s3 = boto3.client("s3", endpoint_url=address)
s3.create_bucket(Bucket=BUCKET)
for path in sorted(folder.rglob("*")):
    if path.is_file():
        s3.put_object(Bucket=BUCKET, Key=path.relative_to(folder).as_posix(), Body=path.read_bytes())
s3.put_object_acl(Bucket=BUCKET, Key="signed.ra", ACL="public-read")
signed = s3.generate_presigned_url("get_object", Params={"Bucket": BUCKET, "Key": "signed.ra"})
print(json.dumps({"endpoint": address, "signed": signed}), flush=True)
for line in sys.stdin:
    # Replaces an object, as another writer would.
    key, source = line.split()
    s3.put_object(Bucket=BUCKET, Key=key, Body=pathlib.Path(source).read_bytes())
    print("done", flush=True)
